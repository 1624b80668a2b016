/// learnedftl's table, for tests that look at its models.
#pragma once

#include "ftl/maps/node_entries.h"
#include "ftl/schemes/demand_scheme.h"
#include "tests/support/cut_rig.h"

namespace flashlab::test {

using ModelledTable = DemandTable<NodeEntries, PageModels>;

inline const ModelledTable& modelled_table_of(CutRig& rig) { return demand_table_of<NodeEntries, PageModels>(rig.ftl()); }

} // namespace flashlab::test
