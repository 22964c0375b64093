"""Study files and the environment -> settings: the only reader of both."""

from heartbench.config.environment import has_key, read_key
from heartbench.config.model_settings import (
    ImportedModel,
    JudgeSettings,
    ModelSettings,
    SystemSettings,
)
from heartbench.config.study_file import (
    SECTIONS,
    ItemSettings,
    JudgingSettings,
    StudySettings,
    load_study,
)

__all__ = [
    "SECTIONS",
    "ImportedModel",
    "ItemSettings",
    "JudgeSettings",
    "JudgingSettings",
    "ModelSettings",
    "StudySettings",
    "SystemSettings",
    "has_key",
    "load_study",
    "read_key",
]
