/** The words for a node that leads its unit. */
import { Option, type Command } from 'commander'
import type { UnitSiteOptions } from '../../roles/machine/unit/unit-site.ts'
import { toFixedPort } from './option-values.ts'

export interface UnitFlags {
  leadUnit: boolean | undefined
  unitPort: number
  unitEtcdProgram: string | undefined
  unitHub: string | undefined
  unitHubTokenFile: string | undefined
  unitHubCaHash: string | undefined
}

export function withUnitOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--lead-unit',
        'run a control plane of its own for the unit of this node whenever the site hands that over',
      ).conflicts('stopPods'),
    )
    .option('--unit-port <number>', 'port of that control plane', toFixedPort, 6443)
    .option(
      '--unit-etcd-program <path>',
      'etcd 3.5.13 or newer for a unit of three servers (default: as for skerry site)',
    )
    .option('--unit-hub <url>', "connect that control plane to this hub, under the unit's name")
    .option('--unit-hub-token-file <path>', 'file with the registration token; only to register')
    .option('--unit-hub-ca-hash <hash>', 'sha256:<hex> of the hub; only to register')
}

export function unitOf(flags: UnitFlags): Pick<UnitSiteOptions, 'port' | 'etcdProgram' | 'hub'> {
  const { unitPort: port, unitHub: url, unitHubTokenFile: tokenFile, unitHubCaHash: caHash } = flags
  const hub = url === undefined ? undefined : { url, tokenFile, caHash }
  return { port, etcdProgram: flags.unitEtcdProgram, hub }
}
