"""Classes and state: a stock of goods with reservations, and what happened to it."""

from __future__ import annotations

from dataclasses import dataclass, field


class OutOfStock(Exception):
    def __init__(self, name: str, missing: int) -> None:
        super().__init__(f"{missing} of {name} are missing")
        self.name, self.missing = name, missing


@dataclass
class Item:
    name: str
    price_cents: int
    count: int = 0
    reserved: int = 0

    @property
    def free(self) -> int:
        return self.count - self.reserved


@dataclass
class Stock:
    low: int = 3
    items: dict[str, Item] = field(default_factory=dict)
    log: list[tuple[str, str, int]] = field(default_factory=list)

    def add(self, name: str, count: int, price_cents: int | None = None) -> Item:
        """More of an item; a new one needs its price."""
        if count <= 0:
            raise ValueError("count must be positive")
        item = self.items.get(name)
        if item is None:
            if price_cents is None:
                raise ValueError("a new item needs a price")
            item = self.items[name] = Item(name, price_cents)
        elif price_cents is not None:
            item.price_cents = price_cents
        item.count += count
        self._note("add", name, count)
        return item

    def reserve(self, name: str, count: int = 1) -> None:
        item = self._item(name)
        if count > item.free:
            raise OutOfStock(name, count - item.free)
        item.reserved += count
        self._note("reserve", name, count)

    def release(self, name: str, count: int = 1) -> int:
        """How many were released: never more than were reserved."""
        item = self._item(name)
        released = min(count, item.reserved)
        item.reserved -= released
        if released:
            self._note("release", name, released)
        return released

    def ship(self, name: str, count: int = 1) -> int:
        """Takes reserved goods first, then free ones; the price of all in cents."""
        item = self._item(name)
        if count > item.count:
            raise OutOfStock(name, count - item.count)
        item.reserved -= min(count, item.reserved)
        item.count -= count
        self._note("ship", name, count)
        return self._price(item, count)

    def running_low(self) -> list[str]:
        return sorted(item.name for item in self.items.values() if item.free < self.low)

    def value_cents(self) -> int:
        return sum(item.count * item.price_cents for item in self.items.values())

    def moved(self, kind: str, name: str | None = None) -> int:
        """How many were moved in this way, of one item or of all."""
        total = 0
        for what, whose, count in self.log:
            if what != kind:
                continue
            if name is not None and whose != name:
                continue
            total += count
        return total

    def _price(self, item: Item, count: int) -> int:
        """A tenth off from ten on, a fifth off from fifty on."""
        full = item.price_cents * count
        if count >= 50:
            return full * 80 // 100
        if count >= 10:
            return full * 90 // 100
        return full

    def _item(self, name: str) -> Item:
        try:
            return self.items[name]
        except KeyError:
            raise OutOfStock(name, 0) from None

    def _note(self, what: str, name: str, count: int) -> None:
        self.log.append((what, name, count))
