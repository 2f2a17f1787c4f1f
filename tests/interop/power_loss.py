"""A power failure of the disk with one directory: what disk_shim.cpp has recorded says which changes were synced. Those
survive; of all others, any part may, in units of 512 bytes."""

import struct

HEAD = struct.Struct("@cIQQ")  # struct Head of disk_shim.cpp
SECTOR_BYTES = 512


class File:
    def __init__(self, content=b""):
        self.durable, self.unsynced = bytearray(content), []

    def apply(self, at, data):
        """Writes; without data, truncates."""
        size = max(len(self.durable), at + len(data)) if data else at
        self.durable = self.durable[:size].ljust(size, b"\0")
        self.durable[at:at + len(data)] = data

    def sync(self):
        for change in self.unsynced:
            self.apply(*change)
        self.unsynced = []

    def lose_power(self, random):
        how = random.choice(("nothing", "everything", "torn", "any sectors"))
        whole = random.randint(0, len(self.unsynced))
        for i, (at, data) in enumerate(self.unsynced):
            if how == "everything" or (how == "torn" and i < whole):
                self.apply(at, data)
            elif data and (how == "any sectors" or (how == "torn" and i == whole)):
                self.apply_sectors(at, data, random, how == "torn")
        self.unsynced = []

    def apply_sectors(self, at, data, random, is_torn):
        begins = [0, *range(SECTOR_BYTES - at % SECTOR_BYTES, len(data), SECTOR_BYTES)]
        written = random.randint(0, len(begins))
        for i, (begin, end) in enumerate(zip(begins, [*begins[1:], len(data)])):
            if i < written if is_torn else random.random() < 0.5:
                self.apply(at + begin, data[begin:end])


class Disk:
    """`before`: the content of the files by name, which is durable."""

    def __init__(self, before):
        self.durable = {name: File(content) for name, content in before.items()}
        self.names, self.unsynced = dict(self.durable), []

    def change_names(self, change):
        change(self.names)
        self.unsynced.append(change)

    def replay(self, journal):
        """The last record may be incomplete: the program was killed before it made that change."""
        at = 0
        while at + HEAD.size <= len(journal):
            kind, name_bytes, offset, size = HEAD.unpack_from(journal, at)
            at += HEAD.size
            name, data = journal[at:at + name_bytes].decode(), journal[at + name_bytes:at + name_bytes + size]
            at += name_bytes + size
            if at <= len(journal):
                self.replay_one(kind.decode(), name, offset, data)

    def replay_one(self, kind, name, offset, data):
        if kind == "c":
            file = File()
            self.change_names(lambda names: names.__setitem__(name, file))
        elif kind == "u":
            self.change_names(lambda names: names.pop(name, None))
        elif kind == "r":
            self.change_names(lambda names: names.update({data.decode(): names.pop(name)} if name in names else {}))
        elif kind == "s" and name == ".":
            self.durable, self.unsynced = dict(self.names), []
        elif kind == "s":
            self.names[name].sync()
        else:  # a write or a truncation
            self.names[name].unsynced.append((offset, data))

    def lose_power(self, random):
        """Returns the content of the files that are left, by name."""
        how = random.choice(("in order", "all", "any"))
        whole = random.randint(0, len(self.unsynced))
        for i, change in enumerate(self.unsynced):
            if how == "all" or (i < whole if how == "in order" else random.random() < 0.5):
                change(self.durable)
        for file in self.durable.values():
            file.lose_power(random)
        return {name: bytes(file.durable) for name, file in self.durable.items()}
