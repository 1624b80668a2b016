/// A translation layer of one's own that passes everything on: what a seeded bug overrides one function of.
///
/// Idea       A ForwardingFtl that owns what it wraps.
/// Invariant  Without an override it is the scheme that it wraps.
/// Cost       A second virtual call a request.
/// Power cut  The scheme's.
#pragma once

#include <memory>

#include "ftl/forwarding_ftl.h"

namespace flashlab {

class LyingFtl : public ForwardingFtl {
public:
    explicit LyingFtl(std::unique_ptr<Ftl> real) : ForwardingFtl{*real}, real_{std::move(real)} {}

private:
    std::unique_ptr<Ftl> real_;
};

} // namespace flashlab
