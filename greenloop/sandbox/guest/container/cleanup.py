"""Removal of everything that untrusted code has left in a folder."""

import os

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def empty_folder(folder: str) -> None:
    """Remove everything in a folder.

    Nested folders are first moved up, so that no path gets long and no recursion deep.
    Raises OSError if something cannot be removed.
    """
    top = os.open(folder, _FOLDER_FLAGS)
    try:
        while names := os.listdir(top):
            for name in names:
                _remove(top, name)
    finally:
        os.close(top)


def _remove(top: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=top)
        return
    except IsADirectoryError:
        os.chmod(name, 0o700, dir_fd=top)
    folder = os.open(name, _FOLDER_FLAGS, dir_fd=top)
    try:
        for item in os.listdir(folder):
            _unlink_or_move_up(folder, item, top)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)


def _unlink_or_move_up(folder: int, item: str, top: int) -> None:
    try:
        os.unlink(item, dir_fd=folder)
    except IsADirectoryError:
        os.chmod(item, 0o700, dir_fd=folder)  # a folder must be writable to be moved
        os.rename(item, f".{os.urandom(12).hex()}", src_dir_fd=folder, dst_dir_fd=top)
