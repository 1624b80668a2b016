/// Copies what is known of a page's OOB field by field. Internal to nand/.
///
/// Idea       A compiler copies a struct by the widest registers. If its fields have just been stored one by one, such a load takes its bytes from
///            several stores that are still pending, and waits until all of them have reached the cache. A load as wide as the store does not wait.
/// Invariant  `to` equals `from` afterwards.
/// Cost       Five loads and stores.
/// Power cut  Keeps nothing.
#pragma once

#include "nand/page_store.h"

namespace flashlab {

inline void copy_fields(const PageOob& from, PageOob& to) {
    const auto& [lpn, sequence, kind, stream, scheme_word] = from; // all fields: one more does not compile
    to.lpn = lpn;
    to.sequence = sequence;
    to.kind = kind;
    to.stream = stream;
    to.scheme_word = scheme_word;
}

/// `to` is as it was made: without an OOB.
inline void copy_fields(const StoredOob& from, StoredOob& to) {
    to.state = from.state;
    if (!from.oob) {
        to.oob = std::unexpected(from.oob.error());
        return;
    }
    to.oob = PageOob{};
    copy_fields(*from.oob, *to.oob);
}

} // namespace flashlab
