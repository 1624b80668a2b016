#include "fs/inode.h"

#include <sys/stat.h>

#include "base/little_endian.h"

namespace flashlab {

namespace {

void put_time(LittleEndianWriter& writer, const FileTime& time) { writer.u64(static_cast<std::uint64_t>(time.seconds)); }

FileTime take_time(LittleEndianReader& reader) { return FileTime{.seconds = static_cast<std::int64_t>(reader.u64()), .nanoseconds = 0}; }

} // namespace

void InodeRecord::encode(std::span<std::byte, encoded_size> out) const {
    LittleEndianWriter writer{out};
    writer.u32(mode);
    writer.u32(links);
    writer.u32(uid);
    writer.u32(gid);
    writer.u32(rdev);
    writer.u32(flags);
    writer.u64(size);
    writer.u64(pages);
    for (const FileTime* time : {&accessed, &modified, &changed, &born}) put_time(writer, *time);
    for (const FileTime* time : {&accessed, &modified, &changed, &born}) writer.u32(time->nanoseconds);
    writer.u64(parent);
    writer.u64(entries);
    writer.u32(xattrs);
    writer.u32(acl);
    ensure(writer.full(), "InodeRecord: fields and encoded_size agree");
}

std::optional<InodeRecord> InodeRecord::decode(std::span<const std::byte> in) {
    if (in.size() != encoded_size) return std::nullopt;
    LittleEndianReader reader{in};
    InodeRecord record;
    record.mode = reader.u32();
    record.links = reader.u32();
    record.uid = reader.u32();
    record.gid = reader.u32();
    record.rdev = reader.u32();
    record.flags = reader.u32();
    record.size = reader.u64();
    record.pages = reader.u64();
    for (FileTime* time : {&record.accessed, &record.modified, &record.changed, &record.born}) *time = take_time(reader);
    for (FileTime* time : {&record.accessed, &record.modified, &record.changed, &record.born}) time->nanoseconds = reader.u32();
    record.parent = reader.u64();
    record.entries = reader.u64();
    record.xattrs = reader.u32();
    record.acl = reader.u32();
    if (reader.failed()) return std::nullopt;
    return record;
}

std::uint32_t InodeRecord::type() const { return mode & S_IFMT; }
bool InodeRecord::is_directory() const { return S_ISDIR(mode); }
bool InodeRecord::is_regular() const { return S_ISREG(mode); }
bool InodeRecord::is_symlink() const { return S_ISLNK(mode); }

void InodeRecord::clear_suid_sgid() {
    mode &= ~static_cast<std::uint32_t>(S_ISUID);
    if ((mode & S_IXGRP) != 0) mode &= ~static_cast<std::uint32_t>(S_ISGID);
}

void drop_set_ids(const FsCall& call, InodeRecord& record) {
    if (call.may_override_suid) return;
    record.clear_suid_sgid();
    if ((record.mode & S_ISGID) != 0 && !call.is_in_group(record.gid)) record.mode &= ~static_cast<std::uint32_t>(S_ISGID);
}

} // namespace flashlab
