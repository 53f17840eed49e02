import type { Command } from 'commander'

/** Adds the option under kube-apiserver's name. */
export function withTracingOptions(command: Command): Command {
  return command.option(
    '--tracing-config-file <file>',
    'TracingConfiguration: where OpenTelemetry spans are sent (default: nothing is traced)',
  )
}
