"""The sandbox that code and hidden tests need: with the allowed packages that they import."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import PurePath

from greenloop.errors import PackagesError
from greenloop.evaluating.task import Task
from greenloop.packages import Provider
from greenloop.sandbox import Sandbox


class Provisions:
    """Packages are installed once at a time, by what the tests, the code and its contract name."""

    def __init__(self, box: Sandbox, provider: Provider) -> None:
        self.box, self._provider = box, provider
        self._installing = asyncio.Lock()

    async def fitted(self, task: Task, code: str = "", agreed: Collection[str] = ()) -> Sandbox:
        """Raises PackagesError where a package that is allowed cannot be had."""
        own = {task.module, *(PurePath(item.name).stem for item in task.tests)}
        sources = [code, *(item.code for item in task.tests)]
        names = self._provider.imported(sources, own) | set(agreed)
        if not names:
            return self.box
        async with self._installing:
            installed = await self._provider.find(names) or await self._provider.install(names)
        return self.box.with_packages(installed)


def why_not(error: PackagesError) -> str:
    """In one line."""
    return str(error).partition("\n")[0]
