import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { ExpectedError, exitCodes, type LogLevel } from '@skerry/base'
import type { LeaveOptions } from '../../roles/agent/leave.ts'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { runRole } from '../../roles/runtime/role-context.ts'
import type { WayFlags } from '../../roles/runtime/way-options.ts'
import { withWayOptions } from '../flags/way-flags.ts'
import { example, role } from '../flags/option-values.ts'

interface LeaveFlags extends WayFlags {
  hub: string | undefined
  karmada: string | undefined
  dataDir: string | undefined
  identitySecret: string | undefined
  kubeconfig: string | undefined
  context: string | undefined
  keepObjects: boolean | undefined
  logLevel: LogLevel
}

/** Adds `skerry cluster leave`: it removes what a stopped agent had at its hub or Karmada. */
export function addLeave(cluster: Command): void {
  withWayOptions(role(cluster.command('leave')))
    .description('Remove a cluster from its hub or from Karmada; its agent must be stopped')
    .argument('<name>', 'name of the cluster there')
    .option('--hub <url>', 'the address that its agent uses')
    .option('--karmada <url>', 'the address that its agent uses')
    .option(
      '--data-dir <path>',
      `data directory of its agent (default: ${join(dataDirectoryDefault, 'agent')})`,
    )
    .option('--identity-secret <namespace/name>', 'Secret of the cluster that has its identity')
    .option(
      '--kubeconfig <path>',
      'kubeconfig for the cluster (default: that of the pod it runs in)',
    )
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--keep-objects', 'keep the objects that Works created, without an owner')
    .addHelpText(
      'after',
      example(
        'skerry cluster leave shop-7 --hub https://hub:7443 --kubeconfig shop.config',
        'skerry cluster leave shop-7 --karmada https://karmada:5443 --kubeconfig shop.config',
      ),
    )
    .action(runLeave)
}

async function runLeave(name: string, flags: LeaveFlags): Promise<void> {
  const from = leftBy(flags)
  const { leave } = await import('../../roles/agent/leave.ts')
  const { findLocalApi } = await import('../../roles/agent/local-api.ts')
  const { connectBy } = await import('../../roles/runtime/way-to-hub.ts')
  const api = await findLocalApi(flags)
  const { dataDir, identitySecret } = flags
  await using home = await openHome({ dataDir, identitySecret })
  await runRole('leave', flags.logLevel, async (context) => {
    const way = await connectBy({ ...flags, hub: 'hub' in from ? from.hub : from.karmada }, context)
    const keepsObjects = flags.keepObjects === true
    const onWaiting = (what: string): void => console.log(`Waiting for ${what}`)
    const { directory } = home
    const asked = { from, directory, identitySecret, clusterName: name, api, keepsObjects }
    const { rightsAreGone } = await leave({ ...asked, onWaiting, ...way }, context)
    console.log(`${name} has left`)
    if (!rightsAreGone) console.log(remaining(name))
  })
}

function leftBy({ hub, karmada }: LeaveFlags): LeaveOptions['from'] {
  if (hub !== undefined && karmada === undefined) return { hub }
  if (karmada !== undefined && hub === undefined) return { karmada }
  throw new ExpectedError('Cannot leave: pass one of --hub and --karmada', exitCodes.usage)
}

/** Opens the directory of the identity; one from a Secret needs a temporary directory. */
async function openHome({
  dataDir,
  identitySecret,
}: Pick<LeaveFlags, 'dataDir' | 'identitySecret'>): Promise<
  { readonly directory: string } & AsyncDisposable
> {
  if (dataDir !== undefined || identitySecret === undefined) {
    const directory = dataDir ?? join(dataDirectoryDefault, 'agent')
    return { directory, async [Symbol.asyncDispose]() {} }
  }
  const directory = await mkdtemp(join(tmpdir(), 'skerry-leave-'))
  return {
    directory,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

function remaining(name: string): string {
  return `At Karmada remain, for its administrator to delete: clusterrole and clusterrolebinding system:karmada:${name}:agent, and in karmada-cluster role and rolebinding system:karmada:${name}:agent-secret`
}
