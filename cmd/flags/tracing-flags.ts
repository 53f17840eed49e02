import type { Command } from 'commander'

/** As kube-apiserver names it. */
export function withTracingOptions(command: Command): Command {
  return command.option(
    '--tracing-config-file <file>',
    'TracingConfiguration: where spans go, by OpenTelemetry (default: nothing is traced)',
  )
}
