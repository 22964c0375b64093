"""What a process has done from which others are forked: once what most of them are to do."""

import gc
from pathlib import Path
from tempfile import TemporaryDirectory

from heart_command import run_heart
from people_site import people_world
from served_study import healthy, serving, write_study

with TemporaryDirectory() as folder, serving(healthy()) as server:
    done = run_heart("run", write_study(Path(folder), server.url, regular=2), "--yes", "--json")
    assert done.code == 0, done.err
    with people_world(Path(folder)) as world:
        world.come("write").write()
        world.come("judge").judge()
gc.freeze()
