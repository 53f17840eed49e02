import type { Command } from 'commander'
import { withHubFlags } from '../../roles/admin/chosen-hub.ts'
import { toJson } from './option-values.ts'

/** Adds the options of every command on an edge cluster. */
export function onEdge(command: Command): Command {
  return withHubFlags(command)
    .option('-n, --namespace <name>', 'namespace of the EdgeCluster', 'default')
    .option('-o, --output <format>', 'output format: json', toJson)
}
