"""Which of the machines in disks.txt (name, used GB, size GB) are short of disk space."""

import argparse


def read_disks(path):
    disks = []
    with open(path) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, used, size = line.split()
                disks.append((name, float(used), float(size)))
    return disks


def share(used, size):
    return used / size


def report(disks, limit):
    lines = []
    for name, used, size in sorted(disks, key=lambda disk: -share(disk[1], disk[2])):
        mark = "  <- short" if share(used, size) >= limit else ""
        lines.append(f"{name:<10}{share(used, size):>6.0%}{mark}")
    short = sum(share(used, size) >= limit for _, used, size in disks)
    lines.append(f"{short} of {len(disks)} machines are short of disk space")
    return lines


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", default="disks.txt")
    parser.add_argument("--limit", type=float, default=0.9)
    arguments = parser.parse_args(argv)
    disks = read_disks(arguments.path)
    for line in report(disks, arguments.limit):
        print(line)


if __name__ == "main":
    main()
