#include "cli/cli.hpp"
#include "server/dev.hpp"
#include "server/serve.hpp"
#include "server/version.hpp"

int main(int argc, char** argv) {
    using namespace doorbuster;
    return run_cli(
        argc, argv,
        {.serve = [](const Config& config,
                     Reloader::Read read) { return serve(config, {.read_again = std::move(read)}); },
         .dev = [](const Config& config, const DevOptions& options) { return dev(config, options); },
         .version = version});
}
