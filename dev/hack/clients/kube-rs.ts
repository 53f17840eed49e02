import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mustRun, readChecks, runIn, workingCopy, type ClientPlan } from './client-plan.ts'

let directory = ''

/** The plan of our program kube-rs/, which does what controllers in Rust do. */
export const kubeRs: ClientPlan = {
  name: 'kube-rs',
  async prepare() {
    directory = await workingCopy('kube-rs')
    await mustRun(['cargo', 'build', '--quiet'], { directory })
  },
  async run({ kubeconfig }) {
    const program = join(directory, 'target', 'debug', 'clients')
    const result = await runIn([program], { env: { KUBECONFIG: kubeconfig } })
    const lock = await readFile(join(directory, 'Cargo.lock'), 'utf8')
    const version = /name = "kube"\nversion = "([^"]+)"/.exec(lock)?.[1] ?? ''
    return { name: 'kube-rs', version, ...readChecks(result) }
  },
}
