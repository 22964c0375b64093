"""A pilot and a preview: the pages on a store of their own, so that nothing of them can count.

Whatever reads a study reads its store; what a trial keeps stands in another one, and what somebody
who takes part has written is not copied there.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hearteval.config import StudySettings
from hearteval.domain import Completion, Item, Label, Rater, Study, System
from hearteval.errors import SettingsError
from hearteval.store.engines import holds_store
from hearteval.store.sql import PATIENCE_SECONDS, SqlStore
from hearteval.study.people import Trial
from hearteval.study.session import pilot_store, study_id


@contextmanager
def settings_of_trial(settings: StudySettings, trial: Trial) -> Iterator[StudySettings]:
    """Return the settings of a trial, whose store holds what the systems of the study have written.

    A pilot's is kept, and gets what is new; that of a preview is gone after the block.

    Raises:
        SettingsError: There is nothing to show yet.
    """
    if not holds_store(settings.store, patience_seconds=PATIENCE_SECONDS):
        raise SettingsError(
            f"{settings.file}: nothing is stored yet, so there is nothing to show; run the systems"
            f" first: heart run {settings.file}"
        )
    with TemporaryDirectory(prefix="heart-preview-") as folder:
        place = pilot_store(settings) if trial == "pilot" else Path(folder) / "preview.db"
        fill(settings, place)
        yield replace(settings, store=str(place))


def fill(settings: StudySettings, place: Path) -> None:
    """Copy what the systems of a study have written into a store that may hold some of it."""
    with (
        closing(SqlStore.open_to_read(settings.store)) as source,
        closing(SqlStore.open(str(place))) as target,
    ):
        study = source.latest_study(study_id(settings))
        if study is None:
            return
        texts = [one for one in source.iter(Completion, study) if one.writer_id is None]
        shown = {one.id for one in texts}
        raters = [one for one in source.iter(Rater, study) if one.kind != "human"]
        known = {one.id for one in raters}
        labels = [
            one
            for one in source.iter(Label, study)
            if one.completion_id in shown and one.rater_id in known
        ]
        versions = source.iter(Study, study)
        items, systems = source.iter(Item, study), source.iter(System, study)
        target.add([*items, *systems, *raters, *texts, *labels, *versions])
