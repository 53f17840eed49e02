import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ExpectedError, exitCodes, type LogLevel } from '@skerry/base'
import { dataDirectoryDefault } from '../../runtime/data-directory.ts'
import { runRole } from '../../runtime/role-context.ts'
import type { WayFlags } from '../../runtime/way-options.ts'
import { connectBy } from '../../runtime/way-to-hub.ts'
import { leave, type LeaveOptions } from '../../agent/leave.ts'
import { findLocalApi } from '../../agent/local-api.ts'

export interface LeaveFlags extends WayFlags {
  hub: string | undefined
  karmada: string | undefined
  dataDir: string | undefined
  identitySecret: string | undefined
  kubeconfig: string | undefined
  context: string | undefined
  keepObjects: boolean | undefined
  logLevel: LogLevel
}

/** Removes a cluster from its hub or Karmada, and prints what remains there. Throws ExpectedError. */
export async function runLeave(name: string, flags: LeaveFlags): Promise<void> {
  const from = leftBy(flags)
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
