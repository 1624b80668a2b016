#include "fs/xattr_store.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/little_endian.h"

namespace flashlab {

namespace {

constexpr unsigned probe_shift = 16;
constexpr unsigned hash_shift = 20;
constexpr std::uint64_t probes = 16;
constexpr std::size_t head_bytes = 5; ///< length of the value, length of the name

RecordKey xattr_key(Ino ino, std::uint64_t subkey) { return RecordKey{.ino = ino, .kind = RecordKind::xattr, .subkey = subkey}; }

std::uint64_t first_probe(std::string_view name) { return (XXH3_64bits(name.data(), name.size()) >> hash_shift) << hash_shift; }

struct Head {
    std::uint32_t value_bytes = 0;
    std::string_view name;
    std::span<const std::byte> data;
};

std::optional<Head> decode(std::span<const std::byte> record) {
    LittleEndianReader reader{record};
    Head head;
    head.value_bytes = reader.u32();
    const std::size_t name_bytes = reader.u8();
    const auto name = reader.bytes(name_bytes);
    if (reader.failed() || name.empty() || head.value_bytes > XattrStore::longest_value) return std::nullopt;
    head.name = std::string_view{reinterpret_cast<const char*>(name.data()), name.size()};
    head.data = record.subspan(head_bytes + name_bytes);
    return head;
}

std::size_t chunks_of(const Head& head) {
    const std::size_t rest = head.value_bytes - std::min<std::size_t>(head.value_bytes, head.data.size());
    return 1 + (rest + max_record_bytes - 1) / max_record_bytes;
}

} // namespace

std::optional<std::uint64_t> XattrStore::find(Ino ino, std::string_view name) const {
    const std::uint64_t base = first_probe(name);
    RecordKey found;
    std::span<const std::byte> record;
    if (!store_.find_at_or_before(xattr_key(ino, base | ((1u << hash_shift) - 1)), xattr_key(ino, base), found, record)) return std::nullopt;
    for (std::uint64_t probe = 0; probe < probes; ++probe) {
        const std::uint64_t subkey = base | (probe << probe_shift);
        if (!store_.get(xattr_key(ino, subkey), record)) continue;
        const auto head = decode(record);
        if (head && head->name == name) return subkey;
    }
    return std::nullopt;
}

std::optional<std::vector<std::byte>> XattrStore::get(Ino ino, std::string_view name) const {
    const auto subkey = find(ino, name);
    if (!subkey) return std::nullopt;
    std::span<const std::byte> record;
    if (!store_.get(xattr_key(ino, *subkey), record)) return std::nullopt;
    const auto head = decode(record);
    if (!head) return std::nullopt;
    const std::size_t value_bytes = head->value_bytes;
    std::vector<std::byte> value{head->data.begin(), head->data.end()};
    for (std::uint64_t chunk = 1; value.size() < value_bytes; ++chunk) {
        if (!store_.get(xattr_key(ino, *subkey + chunk), record)) return std::nullopt;
        value.insert(value.end(), record.begin(), record.end());
    }
    value.resize(value_bytes);
    return value;
}

FsResult<void> XattrStore::erase_chunks(Ino ino, std::uint64_t first) {
    std::span<const std::byte> record;
    if (!store_.get(xattr_key(ino, first), record)) return {};
    const auto head = decode(record);
    if (!head) return std::unexpected(FsError{EIO});
    const std::size_t chunks = chunks_of(*head);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        if (const auto erased = store_.erase(xattr_key(ino, first + chunk)); !erased) return std::unexpected(erased.error());
    }
    return {};
}

FsResult<bool> XattrStore::set(Ino ino, std::string_view name, std::span<const std::byte> value) {
    auto subkey = find(ino, name);
    const bool is_new = !subkey.has_value();
    if (subkey) {
        if (const auto erased = erase_chunks(ino, *subkey); !erased) return std::unexpected(erased.error());
    } else {
        std::span<const std::byte> record;
        for (std::uint64_t probe = 0; probe < probes && !subkey; ++probe) {
            const std::uint64_t candidate = first_probe(name) | (probe << probe_shift);
            if (!store_.get(xattr_key(ino, candidate), record)) subkey = candidate;
        }
        if (!subkey) return std::unexpected(FsError{ENOSPC});
    }
    std::array<std::byte, max_record_bytes> bytes;
    LittleEndianWriter writer{bytes};
    writer.u32(static_cast<std::uint32_t>(value.size()));
    writer.u8(static_cast<std::uint8_t>(name.size()));
    writer.bytes(std::as_bytes(std::span{name}));
    std::size_t at = std::min(value.size(), max_record_bytes - head_bytes - name.size());
    writer.bytes(value.first(at));
    if (const auto put = store_.put(xattr_key(ino, *subkey), writer.written()); !put) return std::unexpected(put.error());
    for (std::uint64_t chunk = 1; at < value.size(); ++chunk) {
        const std::size_t length = std::min(max_record_bytes, value.size() - at);
        if (const auto put = store_.put(xattr_key(ino, *subkey + chunk), value.subspan(at, length)); !put) return std::unexpected(put.error());
        at += length;
    }
    return is_new;
}

FsResult<bool> XattrStore::remove(Ino ino, std::string_view name) {
    const auto subkey = find(ino, name);
    if (!subkey) return false;
    if (const auto erased = erase_chunks(ino, *subkey); !erased) return std::unexpected(erased.error());
    return true;
}

std::string XattrStore::names(Ino ino) const {
    std::string names;
    store_.scan(xattr_key(ino, 0), xattr_key(ino, std::numeric_limits<std::uint64_t>::max()),
                [&](const RecordKey& key, std::span<const std::byte> record) {
                    if ((key.subkey & ((1u << probe_shift) - 1)) != 0) return true;
                    if (const auto head = decode(record)) {
                        names.append(head->name);
                        names.push_back('\0');
                    }
                    return true;
                });
    return names;
}

FsResult<bool> XattrStore::remove_some(Ino ino, std::size_t limit) {
    std::vector<RecordKey> keys;
    store_.scan(xattr_key(ino, 0), xattr_key(ino, std::numeric_limits<std::uint64_t>::max()), [&](const RecordKey& key, std::span<const std::byte>) {
        keys.push_back(key);
        return keys.size() < limit;
    });
    for (const RecordKey& key : keys) {
        if (const auto erased = store_.erase(key); !erased) return std::unexpected(erased.error());
    }
    return keys.size() < limit;
}

} // namespace flashlab
