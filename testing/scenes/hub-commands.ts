import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { writeAdminKubeconfig } from '../../roles/control-plane/admin-kubeconfig.ts'
import { startTestHub, type TestHub } from './test-fleet.ts'

const program = join(import.meta.dirname, '../../cmd/skerry.ts')

/** How a command ended, and what it printed. */
export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Starts a hub with the kubeconfig of its administrator in its data directory. */
export async function startCommandedHub(): Promise<TestHub> {
  await using stack = new AsyncDisposableStack()
  const fleet = stack.use(await startTestHub())
  const file = { path: join(fleet.directory, 'admin.kubeconfig'), name: 'hub', server: fleet.url }
  await writeAdminKubeconfig(fleet.hub.plane.pki, file)
  stack.move()
  return fleet
}

/** Runs `skerry` as the administrator of the hub or site whose kubeconfig is in this data directory. */
export function skerry(
  { directory }: Pick<TestHub, 'directory'>,
  ...words: string[]
): Promise<Ended> {
  const asked = [program, ...words, '--data-dir', directory]
  const signal = AbortSignal.timeout(60_000)
  return new Promise((resolve) => {
    const ran = execFile(process.execPath, asked, { signal }, (_error, out, err) =>
      resolve({ code: ran.exitCode ?? -1, out, err }),
    )
  })
}
