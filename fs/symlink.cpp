#include "fs/symlink.h"

namespace flashlab {

namespace {

RecordKey symlink_key(Ino ino, std::uint64_t chunk) { return RecordKey{.ino = ino, .kind = RecordKind::symlink, .subkey = chunk}; }

} // namespace

FsResult<void> put_symlink(MetadataStore& store, Ino ino, std::string_view target) {
    for (std::size_t at = 0; at < target.size(); at += max_record_bytes) {
        const std::string_view chunk = target.substr(at, max_record_bytes);
        if (const auto put = store.put(symlink_key(ino, at / max_record_bytes), std::as_bytes(std::span{chunk})); !put) return put;
    }
    return {};
}

std::string get_symlink(const MetadataStore& store, Ino ino) {
    std::string target;
    store.scan(symlink_key(ino, 0), symlink_key(ino, longest_symlink), [&](const RecordKey&, std::span<const std::byte> chunk) {
        target.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
        return true;
    });
    return target;
}

FsResult<void> erase_symlink(MetadataStore& store, Ino ino) {
    for (std::uint64_t chunk = 0; chunk <= longest_symlink / max_record_bytes; ++chunk) {
        const auto erased = store.erase(symlink_key(ino, chunk));
        if (!erased) return std::unexpected(erased.error());
        if (!*erased) return {};
    }
    return {};
}

} // namespace flashlab
