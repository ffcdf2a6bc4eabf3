#!/usr/bin/env python3
"""Sum up the sales of a month by region: a table on the screen, totals.csv beside it."""

import csv
import sys

TOTALS = "totals.csv"


def read_sales(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def by_region(sales):
    totals = {}
    for sale in sales:
        region = sale["region"]
        totals[region] = totals.get(region, 0.0) + float(sale["amount"])
    return totals


def write_totals(totals):
    with open(TOTALS, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["region", "total"])
        for region in sorted(totals):
            writer.writerow([region, f"{totals[region]:.2f}"])


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "sales.csv"
    sales = read_sales(path)
    totals = by_region(sales)
    print(f"{len(sales)} sales in {len(totals)} regions")
    for region in sorted(totals):
        print(f"{region:<8}{totals[region]:>10.2f}")
    print(f"{'Total':<8}{sum(totals.values()):>10.2f}")
    write_totals(totals)


if __name__ == "__main__":
    main()
