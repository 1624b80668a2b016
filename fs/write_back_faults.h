/// Failures of write-backs, decided from outside, and what becomes of the pages of a failed one.
///
/// Idea       The write-back asks once before it gives a file's pages to the device. A failure ends it as a failure of the device does.
/// Invariant  The object is called inside a call of the file system and must not change it. Questions (paths_of) are allowed.
/// Cost       A predicted branch for each write-back when absent.
#pragma once

#include <cstdint>

#include "base/id.h"

namespace flashlab {

class WriteBackFaults {
public:
    virtual ~WriteBackFaults() = default;
    /// The errno with which a write-back of this file that begins now fails; 0: it does not.
    [[nodiscard]] virtual int write_back_fails(Ino ino) = 0;
    /// The bytes of this page were given up (FailedPages::reverted): who keeps a copy of them must drop it.
    virtual void page_reverted(Ino ino, std::uint64_t offset, std::uint64_t bytes) = 0;
};

} // namespace flashlab
