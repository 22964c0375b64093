"""Study files and the environment -> settings: the only reader of both."""

from hearteval.config.items import ItemSettings
from hearteval.config.model_settings import (
    JudgeSettings,
    ModelSettings,
    SystemSettings,
    has_key,
    keys_at_hand,
    read_key,
)
from hearteval.config.people import PeopleSettings
from hearteval.config.study_file import StudySettings, load_study

__all__ = [
    "ItemSettings",
    "JudgeSettings",
    "ModelSettings",
    "PeopleSettings",
    "StudySettings",
    "SystemSettings",
    "has_key",
    "keys_at_hand",
    "load_study",
    "read_key",
]
