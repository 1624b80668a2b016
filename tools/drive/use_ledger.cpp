#include "tools/drive/use_ledger.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "fs/fs_types.h"
#include "tools/log/event_log_schema.h"

namespace flashlab {

namespace {

constexpr std::uint8_t data_page = 1; ///< NandOpEvent::page_kind
constexpr unsigned bits_of_page = 36; ///< in the key of a page that is not on the drive yet: 256 TiB a file

constexpr bool writes(FsOp op) { return op == FsOp::write || op == FsOp::copy_file_range; }
constexpr bool syncs(FsOp op) { return op == FsOp::fsync || op == FsOp::fsyncdir; }
constexpr bool reads_or_changes_data(FsOp op) { return writes(op) || syncs(op) || op == FsOp::read; }
/// The calls at which a thread may have become another program: those that begin the work with a file.
constexpr bool begins_work(FsOp op) { return op == FsOp::open || op == FsOp::create || op == FsOp::opendir || op == FsOp::lookup; }

double micros(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

} // namespace

template <class Body, class Base, class First, class... Rest>
void EventTaker<Body, Base, EventList<First, Rest...>>::on(const First& event) {
    static_cast<Body*>(this)->take(event);
}

void UseCounts::add(const UseCounts& other) {
    calls += other.calls;
    failed_calls += other.failed_calls;
    syncs += other.syncs;
    write_bytes += other.write_bytes;
    read_bytes += other.read_bytes;
    host_write_bytes += other.host_write_bytes;
    for (std::size_t c = 0; c < cause_count; ++c) nand_pages[c] += other.nand_pages[c];
}

std::uint64_t UseCounts::all_nand_pages() const { return std::accumulate(nand_pages.begin(), nand_pages.end(), std::uint64_t{0}); }

UseLedger::UseLedger(EventSink& log, NameOfThread name_of_thread)
    : EventTaker{EventLevel::all}, log_{log}, name_of_thread_{std::move(name_of_thread)} {
    files_.resize(2);
    files_[no_file].name = "(file system)";
    files_[drives_file].name = "(drive)";
    processes_.resize(1);
    processes_[kernel].name = "(kernel, drive)";
}

void UseLedger::begin(std::uint32_t lpn_bytes, std::uint32_t file_page_bytes, std::uint32_t nand_page_bytes) {
    lpn_bytes_ = lpn_bytes;
    file_page_bytes_ = file_page_bytes;
    nand_page_bytes_ = nand_page_bytes;
}

void UseLedger::call_began(std::int32_t thread, FsOp op, Ino ino, std::uint64_t offset, std::uint64_t bytes) {
    const ProcessIndex process = process_of(thread, begins_work(op));
    caller_ = {reads_or_changes_data(op) ? file_of(ino) : no_file, process};
    if (!writes(op) || bytes == 0) return;
    const FileIndex index = file_of(ino);
    files_[index].last_writer = process;
    if (op != FsOp::write) return; // a copy may ask for far more than there is
    const std::uint64_t file = std::uint64_t{index} << bits_of_page;
    for (std::uint64_t page = offset / file_page_bytes_; page <= (offset + bytes - 1) / file_page_bytes_; ++page)
        writer_of_page_[file | page] = process;
}

void UseLedger::call_ended(std::int32_t thread, FsOp op, Ino ino, std::uint64_t bytes, int error, Duration took) {
    const ProcessIndex caller = process_of(thread, false);
    Process& process = processes_[caller];
    const FileIndex file = reads_or_changes_data(op) ? file_of(ino) : no_file;
    if (caller_.process == caller) caller_ = {};
    const auto count = [&](UseCounts& counts) {
        ++counts.calls;
        if (error != 0) {
            ++counts.failed_calls;
            return;
        }
        if (writes(op)) counts.write_bytes += bytes;
        if (op == FsOp::read) counts.read_bytes += bytes;
        if (syncs(op)) ++counts.syncs;
    };
    count(process.counts);
    count(files_[file].counts);
    if (!syncs(op) || error != 0) return;
    const std::int64_t ns = took.count();
    process.sync_ns.add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, ns)));
    Syncs& syncs = syncs_[{caller, file}];
    ++syncs.calls;
    syncs.all_ns += ns;
    syncs.longest_ns = std::max(syncs.longest_ns, ns);
}

void UseLedger::named(Ino ino, std::uint64_t generation, Ino parent, std::string_view name) {
    FileIndex index = file_of(ino);
    if (files_[index].generation != 0 && files_[index].generation != generation) {
        index = static_cast<FileIndex>(files_.size());
        files_.emplace_back().ino = ino;
        file_of_ino_[ino.value()] = index;
    }
    File& file = files_[index];
    file.generation = generation;
    file.parent = parent;
    file.name = name;
}

void UseLedger::data_written(Ino ino, FilePage page, Sector first, std::uint32_t sectors) {
    const FileIndex file = file_of(ino);
    const std::uint64_t begin = first.value() * sector_bytes, end = begin + std::uint64_t{sectors} * sector_bytes;
    files_[file].counts.host_write_bytes += end - begin;
    if (owners_.size() <= (end - 1) / lpn_bytes_) owners_.resize((end - 1) / lpn_bytes_ + 1);
    for (std::uint64_t at = begin; at < end; at += file_page_bytes_, ++page) {
        ProcessIndex process = files_[file].last_writer;
        if (const auto writer = writer_of_page_.find(std::uint64_t{file} << bits_of_page | page.value()); writer != writer_of_page_.end()) {
            process = writer->second;
            writer_of_page_.erase(writer);
        }
        const std::uint64_t bytes = std::min(file_page_bytes_, end - at);
        processes_[process].counts.host_write_bytes += bytes;
        for (std::uint64_t lpn = at / lpn_bytes_; lpn <= (at + bytes - 1) / lpn_bytes_; ++lpn) owners_[lpn] = {file, process};
    }
}

void UseLedger::take(const HostRequestEvent& event) {
    if (event.op == HostOp::write && !event.failed) host_write_bytes_ += event.sectors * sector_bytes;
    const Owner owner = owner_of(event);
    slow_.add({event.id, event.op, event.arrival, event.latency(), owner.process, owner.file});
    log_.on(event);
}

void UseLedger::take(const NandOpEvent& event) {
    if (event.op == NandOp::program) {
        const auto cause = static_cast<std::size_t>(event.origin.cause);
        for (std::uint32_t i = 0; i < event.pages; ++i) {
            Owner owner{drives_file, kernel};
            if (event.page_kind == data_page && event.lpn) {
                const std::uint64_t lpn = std::uint64_t{event.lpn->value()} + i;
                owner = lpn < owners_.size() ? owners_[lpn] : Owner{};
            }
            ++files_[owner.file].counts.nand_pages[cause];
            ++processes_[owner.process].counts.nand_pages[cause];
        }
    }
    log_.on(event);
}

UseLedger::Owner UseLedger::owner_of(const HostRequestEvent& request) const {
    if (request.op != HostOp::write) return caller_;
    const std::uint64_t lpn = request.first.value() * sector_bytes / lpn_bytes_;
    return lpn < owners_.size() ? owners_[lpn] : Owner{};
}

UseLedger::FileIndex UseLedger::file_of(Ino ino) {
    const auto [at, is_new] = file_of_ino_.try_emplace(ino.value(), static_cast<FileIndex>(files_.size()));
    if (is_new) files_.emplace_back().ino = ino;
    return at->second;
}

UseLedger::ProcessIndex UseLedger::process_of(std::int32_t thread, bool may_be_new_program) {
    if (thread == 0) return kernel;
    const auto known = process_of_thread_.find(thread);
    if (known != process_of_thread_.end() && !may_be_new_program) return known->second;
    const std::string name = name_of_thread_(thread);
    if (known != process_of_thread_.end() && processes_[known->second].name == name) return known->second;
    auto process = std::ranges::find(processes_, name, &Process::name);
    if (process == processes_.end()) {
        processes_.emplace_back().name = name;
        process = processes_.end() - 1;
    }
    ++process->threads;
    return process_of_thread_[thread] = static_cast<ProcessIndex>(process - processes_.begin());
}

std::optional<FileUse> UseLedger::use_of(Ino ino) const {
    const auto found = file_of_ino_.find(ino.value());
    if (found == file_of_ino_.end()) return FileUse{};
    const UseCounts& counts = files_[found->second].counts;
    return FileUse{counts.write_bytes, counts.host_write_bytes, counts.all_nand_pages() * nand_page_bytes_};
}

std::string UseLedger::path_of(FileIndex index) const {
    constexpr int deepest = 1024; // a directory that was moved under its own name of old would have no end
    std::string path = files_[index].name.empty() ? fmt::format("(inode {})", files_[index].ino.value()) : files_[index].name;
    if (index == no_file || index == drives_file) return path;
    if (files_[index].ino == root_ino) return ".";
    Ino parent = files_[index].parent;
    for (int depth = 0; depth < deepest && parent != root_ino && parent.value() != 0; ++depth) {
        const auto above = file_of_ino_.find(parent.value());
        if (above == file_of_ino_.end()) break;
        path = files_[above->second].name + "/" + path;
        parent = files_[above->second].parent;
    }
    return path;
}

Json UseLedger::counts_as_json(const UseCounts& counts) const {
    Json by_cause = Json::object({});
    for (std::uint8_t c = 0; c < cause_count; ++c) by_cause.add(std::string{name_of_cause(c)}, counts.nand_pages[c] * nand_page_bytes_);
    return Json::object({{"calls", counts.calls},
                         {"failed_calls", counts.failed_calls},
                         {"write_bytes", counts.write_bytes},
                         {"read_bytes", counts.read_bytes},
                         {"syncs", counts.syncs},
                         {"host_write_bytes", counts.host_write_bytes},
                         {"nand_write_bytes", counts.all_nand_pages() * nand_page_bytes_},
                         {"nand_write_bytes_by_cause", std::move(by_cause)}});
}

namespace {

Json with_counts(std::initializer_list<Json::Member> first, const Json& counts) {
    Json row = Json::object(first);
    for (const auto& [key, value] : counts.members()) row.add(key, value);
    return row;
}

/// The greatest first: by what reached the flash, then the drive, then the mount, then by name.
bool is_before(const std::pair<std::string, UseCounts>& a, const std::pair<std::string, UseCounts>& b) {
    const auto rank = [](const UseCounts& c) { return std::tuple{c.all_nand_pages(), c.host_write_bytes, c.write_bytes, c.calls}; };
    return rank(a.second) != rank(b.second) ? rank(a.second) > rank(b.second) : a.first < b.first;
}

} // namespace

Json UseLedger::report(std::size_t most) const {
    UseCounts all;
    std::uint64_t of_files = 0;
    for (const Process& process : processes_) all.add(process.counts);
    for (const File& file : files_) of_files += file.counts.host_write_bytes;
    all.host_write_bytes = host_write_bytes_;
    Json out = with_counts({}, counts_as_json(all));
    out.add("metadata_write_bytes", host_write_bytes_ - std::min(of_files, host_write_bytes_));
    add_processes(out);
    add_files(out, most);
    add_syncs(out, most);
    add_slow_requests(out);
    return out;
}

void UseLedger::add_processes(Json& out) const {
    std::vector<std::pair<std::string, UseCounts>> order;
    std::uint64_t of_processes = 0;
    for (const Process& process : processes_) of_processes += process.counts.host_write_bytes;
    for (const Process& process : processes_) order.emplace_back(process.name, process.counts);
    order[kernel].second.host_write_bytes += host_write_bytes_ - std::min(of_processes, host_write_bytes_);
    std::ranges::sort(order, is_before);
    Json rows{Json::Array{}};
    for (const auto& [name, counts] : order) {
        const Process& process = *std::ranges::find(processes_, name, &Process::name);
        if (counts.calls == 0 && counts.host_write_bytes == 0 && counts.all_nand_pages() == 0) continue;
        Json row = with_counts({{"process", name}, {"threads", process.threads}}, counts_as_json(counts));
        row.add("sync_p50_us", micros(static_cast<std::int64_t>(process.sync_ns.permille(500))));
        row.add("sync_p99_us", micros(static_cast<std::int64_t>(process.sync_ns.permille(990))));
        row.add("sync_max_us", micros(static_cast<std::int64_t>(process.sync_ns.max())));
        rows.push(std::move(row));
    }
    out.add("processes", std::move(rows));
}

/// Files that had the same path one after the other, as a journal that is made anew for each transaction, are one row.
void UseLedger::add_files(Json& out, std::size_t most) const {
    std::map<std::string, std::pair<UseCounts, std::uint64_t>> by_path;
    std::uint64_t of_files = 0;
    for (FileIndex i = 0; i < files_.size(); ++i) {
        UseCounts counts = files_[i].counts;
        of_files += counts.host_write_bytes;
        const bool is_used = counts.write_bytes != 0 || counts.host_write_bytes != 0 || counts.all_nand_pages() != 0 || counts.syncs != 0;
        if (!is_used && i != no_file) continue;
        auto& [sum, files] = by_path[path_of(i)];
        sum.add(counts);
        ++files;
    }
    by_path[files_[no_file].name].first.host_write_bytes += host_write_bytes_ - std::min(of_files, host_write_bytes_);
    std::vector<std::pair<std::string, UseCounts>> order;
    for (const auto& [path, row] : by_path) order.emplace_back(path, row.first);
    std::ranges::sort(order, is_before);
    Json rows{Json::Array{}};
    UseCounts rest;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i >= most)
            rest.add(order[i].second);
        else
            rows.push(with_counts({{"path", order[i].first}, {"files", by_path.at(order[i].first).second}}, counts_as_json(order[i].second)));
    }
    if (order.size() > most) rows.push(with_counts({{"path", "(others)"}, {"files", std::uint64_t{order.size() - most}}}, counts_as_json(rest)));
    out.add("files", std::move(rows));
}

void UseLedger::add_syncs(Json& out, std::size_t most) const {
    std::map<std::pair<std::string, std::string>, Syncs> merged;
    for (const auto& [who, syncs] : syncs_) {
        Syncs& sum = merged[{processes_[who.first].name, path_of(who.second)}];
        sum.calls += syncs.calls;
        sum.all_ns += syncs.all_ns;
        sum.longest_ns = std::max(sum.longest_ns, syncs.longest_ns);
    }
    std::vector<const std::pair<const std::pair<std::string, std::string>, Syncs>*> order;
    for (const auto& row : merged) order.push_back(&row);
    std::ranges::stable_sort(order, [](const auto* a, const auto* b) { return a->second.calls > b->second.calls; });
    Json rows{Json::Array{}};
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
        const Syncs& syncs = order[i]->second;
        rows.push(Json::object({{"process", order[i]->first.first},
                                {"path", order[i]->first.second},
                                {"calls", syncs.calls},
                                {"mean_us", micros(syncs.all_ns / static_cast<std::int64_t>(syncs.calls))},
                                {"max_us", micros(syncs.longest_ns)}}));
    }
    out.add("syncs_by_caller", std::move(rows));
}

void UseLedger::add_slow_requests(Json& out) const {
    Json rows{Json::Array{}};
    for (const SlowRequest& request : slow_.slowest_first())
        rows.push(Json::object({{"id", request.id.value()},
                                {"op", host_op_names[static_cast<std::size_t>(request.op)]},
                                {"ts_ns", static_cast<std::uint64_t>(ns_since_start(request.arrival))},
                                {"dur_ns", static_cast<std::uint64_t>(request.took.count())},
                                {"process", processes_[request.process].name},
                                {"path", path_of(request.file)}}));
    out.add("slow_requests", std::move(rows));
}

std::string program_of_thread(std::int32_t thread) {
    std::ifstream status{fmt::format("/proc/{}/status", thread)};
    std::int32_t process = thread;
    for (std::string word; status >> word; status.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
        if (word == "Tgid:") {
            status >> process;
            break;
        }
    std::ifstream file{fmt::format("/proc/{}/comm", process)};
    std::string name;
    return std::getline(file, name) && !name.empty() ? name : fmt::format("(pid {})", thread);
}

} // namespace flashlab
