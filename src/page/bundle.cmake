# Bundles one page's script, or the style, with esbuild:
#   cmake -DESBUILD=… -DFROM=sale.js -DTO=sale.bundle.js [-DWORKER=pow_worker.js] -P bundle.cmake
# The worker's own bundle reaches the script as the text POW_WORKER: it starts from a Blob, since a page
# that is one file has nothing beside it to start a worker from.
# Short names for what only the model of a page has; nothing that is sent or kept is named like this.
set(NAMES "^(is_[a-z_]+|must_check|cool_until|was_there|lights_at_ms|at_ms|wait_ms|press|stop|note|fault)$")
set(SCRIPT --bundle --minify --format=iife --target=es2020 --charset=utf8 --log-level=warning
    --mangle-props=${NAMES})

if(FROM MATCHES "\\.css$")
    set(ARGUMENTS --minify --charset=utf8 --log-level=warning)
else()
    set(ARGUMENTS ${SCRIPT})
endif()
if(WORKER)
    execute_process(COMMAND ${ESBUILD} ${WORKER} ${SCRIPT} OUTPUT_VARIABLE TEXT COMMAND_ERROR_IS_FATAL ANY)
    string(STRIP "${TEXT}" TEXT)
    string(REPLACE "\\" "\\\\" TEXT "${TEXT}")
    string(REPLACE "\"" "\\\"" TEXT "${TEXT}")
    string(REPLACE "\n" "\\n" TEXT "${TEXT}")
    string(REPLACE "\t" "\\t" TEXT "${TEXT}")
    execute_process(COMMAND ${ESBUILD} ${FROM} ${ARGUMENTS} "--define:POW_WORKER=\"${TEXT}\"" --outfile=${TO}
                    COMMAND_ERROR_IS_FATAL ANY)
else()
    execute_process(COMMAND ${ESBUILD} ${FROM} ${ARGUMENTS} --outfile=${TO} COMMAND_ERROR_IS_FATAL ANY)
endif()
