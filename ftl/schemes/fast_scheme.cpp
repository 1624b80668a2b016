#include "ftl/schemes/fast_scheme.h"

#include "ftl/schemes/fast.h"
#include "ftl/schemes/merge_plan.h"

namespace flashlab {

namespace {

constexpr MergeKind kind{.name = "fast", .logs_beside = 1, .warning = {}};

} // namespace

const Scheme& fast_scheme() {
    static constexpr Scheme scheme{kind.name, "block map with one sequential log block and log blocks shared by all (FAST)", plan_of<kind>, make_of<FastFtl, kind>};
    return scheme;
}

} // namespace flashlab
