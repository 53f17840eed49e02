import { join } from 'node:path'
import { mustRun, readChecks, runIn, workingCopy, type ClientPlan } from './client-plan.ts'

const version = 'v0.36.3'
let program = ''

/** The plan of our program client-go/, which does what controllers in Go do. */
export const clientGo: ClientPlan = {
  name: 'client-go',
  async prepare() {
    const directory = await workingCopy('client-go')
    program = join(directory, 'program')
    await mustRun(['go', 'mod', 'tidy'], { directory })
    await mustRun(['go', 'build', '-o', program, '.'], { directory })
  },
  async run({ kubeconfig }) {
    const result = await runIn([program], { env: { KUBECONFIG: kubeconfig } })
    return { name: 'client-go', version, ...readChecks(result) }
  },
}
