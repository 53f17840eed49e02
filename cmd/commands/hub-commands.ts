import { join } from 'node:path'
import type { Command } from 'commander'
import type { LogLevel } from '@skerry/base'
import { toClusterDomain } from '../../roles/control-plane/cluster-domain.ts'
import type { EtcdFlags } from '../../roles/control-plane/etcd-options.ts'
import type { KindFlags } from '../../roles/control-plane/served-kinds.ts'
import type { HubOptions } from '../../roles/hub/hub.ts'
import type { LoginFlags } from '../../roles/hub/contract/login-flags.ts'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { runRole } from '../../roles/runtime/role-context.ts'
import type { TracingFlags } from '../../roles/runtime/tracing-options.ts'
import { accessOptionsOf, withAccessOptions, type AccessFlags } from '../flags/access-flags.ts'
import {
  withEtcdOptions,
  withKindOptions,
  withTracingOptions,
} from '../flags/control-plane-flags.ts'
import {
  proxiesOf,
  registrationRulesOf,
  withLoginOptions,
  withProxyProtocol,
  withRegistrationOptions,
  type ProxyProtocolFlags,
  type RegistrationFlags,
} from '../flags/hub-flags.ts'
import {
  machineProgramsOf,
  withMachinePrograms,
  type MachineProgramFlags,
} from '../flags/machine-program-flags.ts'
import { collect, example, role, toPort } from '../flags/option-values.ts'
import { packageDirectoriesOf, withPackages, type PackageFlags } from '../flags/package-flags.ts'

/** Adds the role of the cloud: the API of a fleet. */
export function addHubCommand(program: Command): void {
  const hub = withRegistrationOptions(
    withAccessOptions(withTracingOptions(withProxyProtocol(role(program.command('hub'))))),
  )
  const withMachines = withPackages(withMachinePrograms(withLoginOptions(hub)))
  withKindOptions(withEtcdOptions(withMachines, '/skerry/hub'))
    .description('Run the hub: the API of the fleet, and access to every cluster in it')
    .option('--data-dir <path>', 'directory for its state', join(dataDirectoryDefault, 'hub'))
    .option(
      '--new-store',
      'start with an empty store if the store that belongs to pki/ is missing or empty',
    )
    .option('--bind-address <ip>', 'listen on this address', '0.0.0.0')
    .option('--port <number>', 'port for users and agents', toPort, 7443)
    .option('--san <name>', 'another name or address that clients use (repeatable)', collect, [])
    .option(
      '--cluster-domain <domain>',
      'also serve each cluster at https://<cluster>.<domain>, for clients that accept no path',
      toClusterDomain,
    )
    .option(
      '--allow-inspected-tls',
      'accept agents inside a WebSocket, past boxes that open TLS (skerry agent --inspected-tls)',
    )
    .option(
      '--failover',
      'move objects away from clusters whose taints they do not tolerate, or where they stay unhealthy',
    )
    .option(
      '--push',
      'dial clusters in push mode (karmadactl join) at the addresses that their Cluster objects name',
    )
    .option(
      '--allow-any-override',
      "let OverridePolicies change an object's identity, the rights it grants and the limits it sets",
    )
    .option(
      '--allow-foreign-dependencies',
      'let propagateDeps include objects of other namespaces that an interpreter names',
    )
    .option(
      '--replica-key-file <path>',
      "copy of another replica's pki/replica.key; needed only for the first start next to other replicas",
    )
    .option(
      '--advertise-address <ip>',
      'address at which other replicas on the same etcd reach this one (default: its first address)',
    )
    .addHelpText(
      'after',
      example(
        'skerry hub --san hub.example.com --port 443',
        'skerry hub --san hub.example.com --etcd-servers https://10.0.0.5:2379,https://10.0.0.6:2379',
      ),
    )
    .action(async (options: HubFlags) => {
      const { runHub } = await import('../../roles/hub/hub.ts')
      const hubOptions = await hubOptionsOf(options)
      await runRole('hub', options.logLevel, (context) => runHub(hubOptions, context), options)
    })
}

interface ReplicaFlags {
  advertiseAddress: string | undefined
  replicaKeyFile: string | undefined
}

interface PropagationFlags {
  failover: boolean | undefined
  allowAnyOverride: boolean | undefined
  allowForeignDependencies: boolean | undefined
}

interface HubFlags
  extends
    ReplicaFlags,
    PropagationFlags,
    AccessFlags,
    KindFlags,
    EtcdFlags,
    RegistrationFlags,
    LoginFlags,
    MachineProgramFlags,
    PackageFlags,
    TracingFlags,
    ProxyProtocolFlags {
  dataDir: string
  bindAddress: string
  port: number
  san: string[]
  clusterDomain: string | undefined
  allowInspectedTls: boolean | undefined
  newStore: boolean | undefined
  push: boolean | undefined
  logLevel: LogLevel
}

async function hubOptionsOf(flags: HubFlags): Promise<HubOptions> {
  const { dataDir, bindAddress, port, san: extraSans, clusterDomain, newStore, failover } = flags
  const rules = {
    anyOverride: flags.allowAnyOverride === true,
    foreignDependencies: flags.allowForeignDependencies === true,
  }
  return {
    dataDir,
    listening: { bindAddress, port, extraSans, clusterDomain, proxies: await proxiesOf(flags) },
    store: { etcd: flags, newStore },
    access: accessOptionsOf(flags),
    served: flags,
    registration: registrationRulesOf(flags),
    carrier: { allowInspectedTls: flags.allowInspectedTls },
    login: flags,
    push: { isOn: flags.push },
    fleet: { failover, rules },
    replicas: flags,
    machines: {
      programs: await machineProgramsOf(flags),
      packages: await packageDirectoriesOf(flags),
    },
  }
}
