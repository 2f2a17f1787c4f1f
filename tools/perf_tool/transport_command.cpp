#include "command.hpp"
#include "transport/matrix_command.hpp"
#include "transport/selection.hpp"

#include <memory>
#include <utility>

namespace telegate::perf {

Command::Action describe_transport_command(CLI::App& options) {
    const auto chosen = std::make_shared<TransportSelection>();
    add_options(options, *chosen);
    return [chosen](const CommonOptions& common) {
        Matrix matrix{"transport", "messages per second", {}, cells_of(*chosen)};
        matrix.parameters = {{"work", "one sender, one receiver, one call for each message, nothing lost"},
                             {"threads", chosen->two_processes ? "the receiver in a process of its own"
                                                               : "one for each side, in one process"}};
        return measure_matrix(std::move(matrix), *chosen, common.runs);
    };
}

}  // namespace telegate::perf
