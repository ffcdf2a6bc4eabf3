"""Packages besides the standard library: which may be used, and how they come to be there.

Installed once, outside and before any wall closes, wheels only, into a folder of the user's cache:

    installed = Store().install(["numpy"])
    run = box.with_packages(installed).run_tests(code, tests)
"""

from greenloop.dependencies.allowlist import PackageAllowlist
from greenloop.dependencies.resolver import PackageResolver
from greenloop.dependencies.store import InstalledPackages, PackageStore

__all__ = ["InstalledPackages", "PackageAllowlist", "PackageResolver", "PackageStore"]
