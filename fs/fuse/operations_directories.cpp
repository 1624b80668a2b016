// readdir, readdirplus, fsyncdir. Directories are not opened, since a listing needs no state but its offset; but for strict access
// times, where the kernel must not keep listings.
#include <algorithm>
#include <string>
#include <vector>

#include "fs/fuse/operations.h"

namespace flashlab {

namespace {

enum class Detail { names_only, with_attributes };

struct Listing {
    std::vector<char> bytes;
    std::vector<Ino> referenced; ///< one reference each, carried by the reply
};

struct ListedName {
    std::string name;
    Ino ino;
    std::uint32_t type;
    std::uint64_t next_offset;
};

bool is_dot(std::string_view name) { return name == "." || name == ".."; }

std::size_t entry_bytes(fuse_req_t request, const char* name, Detail detail) {
    return detail == Detail::with_attributes ? fuse_add_direntry_plus(request, nullptr, 0, name, nullptr, 0)
                                             : fuse_add_direntry(request, nullptr, 0, name, nullptr, 0);
}

void append_entry(fuse_req_t request, Listing& listing, const ListedName& entry, const Attributes& attributes, Detail detail) {
    const std::size_t at = listing.bytes.size();
    listing.bytes.resize(at + entry_bytes(request, entry.name.c_str(), detail));
    char* to = listing.bytes.data() + at;
    const std::size_t room = listing.bytes.size() - at;
    const auto offset = static_cast<off_t>(entry.next_offset);
    fuse_entry_param full = entry_of(attributes);
    full.attr.st_ino = entry.ino.value();
    full.attr.st_mode = attributes.ino.value() != 0 ? attributes.mode : entry.type;
    if (detail == Detail::names_only) {
        fuse_add_direntry(request, to, room, entry.name.c_str(), &full.attr, offset);
        return;
    }
    if (full.ino == 0) full.entry_timeout = full.attr_timeout = 0.0; // "." and "..": no reference, nothing to remember
    fuse_add_direntry_plus(request, to, room, entry.name.c_str(), &full, offset);
}

/// Names first, then their attributes: looking up inside the walk would disturb it.
FsResult<Timed<Listing>> list(fuse_req_t request, Service& service, const FsCall& call, Ino ino, std::size_t room, std::uint64_t offset,
                              Detail detail) {
    std::vector<ListedName> names;
    std::size_t used = 0;
    const auto collect = [&](std::string_view name, Ino entry, std::uint32_t type, std::uint64_t next_offset) {
        ListedName listed{std::string{name}, entry, type, next_offset};
        used += entry_bytes(request, listed.name.c_str(), detail);
        if (used > room) return false;
        names.push_back(std::move(listed));
        return true;
    };
    const auto walked = service.fs().read_directory(call, ino, offset, std::ref(collect));
    if (!walked) return std::unexpected(walked.error());
    Timed<Listing> out{{}, *walked};
    out.value.bytes.reserve(std::min(used, room));
    for (const ListedName& listed : names) {
        Attributes attributes;
        if (detail == Detail::with_attributes && !is_dot(listed.name)) {
            const auto found = service.fs().lookup(call, ino, listed.name);
            if (!found) continue; // a name that cannot be read now is left out, not the whole listing
            attributes = found->value;
            out.value.referenced.push_back(attributes.ino);
            out.done = std::max(out.done, found->done);
        }
        append_entry(request, out.value, listed, attributes, detail);
    }
    return out;
}

void serve_listing(fuse_req_t request, fuse_ino_t ino, std::size_t room, off_t offset, Detail detail) {
    Service& service = service_of(request);
    const auto at = static_cast<std::uint64_t>(offset);
    service.serve(
        request, {.op = FsOp::readdir, .ino = Ino{ino}, .offset = at, .bytes = room},
        [&](const FsCall& call) { return list(request, service, call, Ino{ino}, room, at, detail); },
        [](fuse_req_t to, Listing& listing) {
            Service& again = service_of(to);
            if (fuse_reply_buf(to, listing.bytes.data(), listing.bytes.size()) != -ENOENT) return;
            for (const Ino referenced : listing.referenced) take_back(again, referenced, 1);
        });
}

void on_readdir(fuse_req_t request, fuse_ino_t ino, std::size_t room, off_t offset, fuse_file_info*) {
    serve_listing(request, ino, room, offset, Detail::names_only);
}

void on_readdirplus(fuse_req_t request, fuse_ino_t ino, std::size_t room, off_t offset, fuse_file_info*) {
    serve_listing(request, ino, room, offset, Detail::with_attributes);
}

void on_fsyncdir(fuse_req_t request, fuse_ino_t ino, int data_only, fuse_file_info*) {
    Service& service = service_of(request);
    const auto scope = data_only != 0 ? SyncScope::data_only : SyncScope::data_and_metadata;
    service.serve_slow(
        request, {.op = FsOp::fsyncdir, .ino = Ino{ino}, .mutates = true},
        [&](const FsCall& call) { return service.fs().begin_sync(call, Ino{ino}, scope); }, [](fuse_req_t to) { fuse_reply_err(to, 0); });
}

} // namespace

void add_directory_operations(fuse_lowlevel_ops& table, bool strict_access_times) {
    if (strict_access_times) table.opendir = [](fuse_req_t request, fuse_ino_t, fuse_file_info* file) { fuse_reply_open(request, file); };
    table.readdir = on_readdir;
    table.readdirplus = on_readdirplus;
    table.fsyncdir = on_fsyncdir;
}

} // namespace flashlab
