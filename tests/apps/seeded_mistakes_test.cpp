// Goal: a mistake in an application is found by every model that lets it hurt, and by no other.
// Method: a small store makes twenty promises, each kept by one sync. Twenty programs leave out one of them; one leaves out none.
#include <array>
#include <cstdio>

#include <fmt/format.h>

#include "tests/apps/recorded_program.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::size_t big_bytes = 3 * page_bytes + 17;

/// The store. It promises after each step; `omitted` is the sync that it forgets, 0: none.
class Store {
public:
    explicit Store(int omitted) : omitted_{omitted} { run(); }
    [[nodiscard]] const RecordedProgram& program() const { return p_; }

    /// After any cut: what was promised is there, and nothing is half done.
    [[nodiscard]] static bool is_right(const AfterCut& c) {
        const auto kept = [&](const char* promise, bool is_there) { return !c.promised(promise) || is_there; };
        const std::string log = c.read("db/log").value_or("");
        const std::string current = c.read("db/CURRENT").value_or("none");
        const std::string snapshot = c.read("db/snap").value_or("none");
        const std::string big = c.read("db/blobs/big").value_or("");
        const bool compacted = c.promised("snapshot");
        return kept("directory", c.has("db")) && kept("log", c.has("db/log")) && kept("put 1", compacted || log.starts_with("put1;")) &&
               kept("put 2", compacted || log.starts_with("put1;put2;")) && (snapshot == "none" || snapshot == "put1;put2;") &&
               kept("snapshot", snapshot != "none") && kept("put 3", log.starts_with("put3;")) &&
               (current == "none" || current == "v1" || current == "v2") && kept("version 1", current != "none") &&
               kept("version 2", current == "v2") && kept("blobs", c.has("db/blobs")) && kept("blob", c.read("db/blobs/b") == "blob") &&
               kept("second name", c.read("db/blobs/b2") == "blob" || c.promised("removing")) && kept("removed", !c.has("db/blobs/b2")) &&
               kept("slot", c.read("db/slot").value_or("").starts_with("seq 2")) &&
               kept("big", c.promised("cutting") || big == std::string(big_bytes, 'x')) && kept("cut", big.size() == page_bytes) &&
               kept("moved", c.has("db/done/job"));
    }

private:
    void sync(int number, std::uint64_t ino, bool data_only = false) {
        if (number == omitted_) return;
        data_only ? p_.fdatasync(ino) : p_.fsync(ino);
    }
    void replace(const std::string& name, const std::string& content, int sync_data, int sync_name) {
        const auto file = p_.create(name + ".tmp", db_);
        p_.append(file, content);
        sync(sync_data, file);
        p_.close(file);
        p_.rename(name + ".tmp", name, db_);
        sync(sync_name, db_);
    }
    void run() {
        p_.prepared();
        db_ = p_.mkdir("db");
        sync(1, RecordedProgram::root);
        p_.promise("directory");
        const auto log = p_.create("log", db_);
        sync(2, db_);
        p_.promise("log");
        p_.append(log, "put1;");
        sync(3, log, true);
        p_.promise("put 1");
        p_.append(log, "put2;");
        sync(4, log, true);
        p_.promise("put 2");
        replace("snap", "put1;put2;", 5, 6);
        p_.promise("snapshot");
        p_.truncate(log, 0);
        p_.append(log, "put3;");
        sync(7, log, true);
        p_.promise("put 3");
        replace("CURRENT", "v1", 8, 9);
        p_.promise("version 1");
        replace("CURRENT", "v2", 10, 11);
        p_.promise("version 2");
        blobs();
    }
    void blobs() {
        const auto blobs = p_.mkdir("blobs", db_);
        sync(12, db_);
        p_.promise("blobs");
        const auto blob = p_.create("b", blobs);
        p_.append(blob, "blob");
        sync(13, blob);
        sync(14, blobs);
        p_.promise("blob");
        p_.link(blob, "b2", blobs);
        sync(15, blobs);
        p_.promise("second name");
        const auto slot = p_.create("slot", db_);
        p_.append(slot, "seq 1" + std::string(600, '.'));
        p_.fsync(slot);
        p_.fsync(db_);
        p_.write(slot, 0, "seq 2");
        sync(16, slot, true);
        p_.promise("slot");
        const auto big = p_.create("big", blobs);
        p_.fsync(blobs);
        p_.append(big, std::string(big_bytes, 'x'));
        sync(17, big);
        p_.promise("big");
        const auto done = p_.mkdir("done", db_);
        (void)p_.create("job", db_);
        p_.fsync(db_);
        p_.rename("job", "job", db_, done);
        sync(18, done);
        p_.promise("moved");
        p_.promise("removing");
        p_.unlink("b2", blobs);
        sync(19, blobs);
        p_.promise("removed");
        p_.promise("cutting");
        p_.truncate(big, page_bytes);
        sync(20, big);
        p_.promise("cut");
    }

    int omitted_;
    RecordedProgram p_;
    std::uint64_t db_ = 0;
};

/// By the number of the sync: the models that lose what it would have kept.
constexpr std::array<const char*, 21> losing{
    "",
    "ext4 xfs btrfs posix",        // 1: the name of the directory
    "ext4 xfs btrfs posix",        // 2: the name of the log
    "strict ext4 xfs btrfs posix", // 3: a record
    "strict ext4 xfs btrfs posix", // 4: a second record
    "strict ext4 xfs btrfs posix", // 5: data before a rename to a free name
    "ext4 xfs btrfs posix",        // 6: the new name
    "strict ext4 xfs btrfs posix", // 7: a record after a truncation
    "strict ext4 xfs btrfs posix", // 8: data before a rename to a free name
    "ext4 xfs btrfs posix",        // 9: the new name
    "xfs btrfs posix",             // 10: data before a rename over a name
    "ext4 xfs btrfs posix",        // 11: that rename
    "ext4 xfs btrfs posix",        // 12: a directory
    "strict ext4 xfs btrfs posix", // 13: the data of a file whose directory was synced
    "posix",                       // 14: the name of a file that was synced
    "ext4 xfs btrfs posix",        // 15: a second name
    "strict ext4 xfs btrfs posix", // 16: an overwrite in place
    "strict ext4 xfs btrfs posix", // 17: a long append
    "ext4 xfs btrfs posix",        // 18: a move to another directory
    "ext4 xfs btrfs posix",        // 19: a removal
    "ext4 xfs btrfs posix",        // 20: a truncation
};

} // namespace

TEST_CASE("a store that leaves out no sync passes in every state of every model", "[apps][mistakes]") {
    for (const std::string model : all_models) {
        CAPTURE(model);
        CHECK_FALSE(first_failure(Store{0}.program(), model, Store::is_right).has_value());
    }
}

TEST_CASE("a store that leaves out one sync of twenty is caught by the models that lose by it, and by no other", "[apps][mistakes]") {
    int caught = 0;
    for (int omitted = 1; omitted <= 20; ++omitted) {
        bool is_caught = false;
        for (const std::string model : all_models) {
            CAPTURE(omitted, model);
            const auto models = fmt::format(" {} ", losing[static_cast<std::size_t>(omitted)]);
            const bool allows = models.find(fmt::format(" {} ", model)) != std::string::npos;
            const bool fails = first_failure(Store{omitted}.program(), model, Store::is_right).has_value();
            CHECK(fails == allows);
            is_caught = is_caught || fails;
        }
        caught += is_caught ? 1 : 0;
    }
    std::printf("%d of 20 seeded mistakes caught\n", caught);
    CHECK(caught == 20);
}
