import { mkdir, rename, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { clientsCache, mustRun, runIn, type ClientPlan } from './client-plan.ts'
import { kubectlSteps } from './old-kubectl-table.ts'

const name = 'kubectl-1.20'
/** The package of Debian 12, whose old kubectl many machines have. */
const debianPackage = 'kubernetes-client'
const directory = join(clientsCache, name)
export const oldKubectlProgram = join(directory, 'unpacked', 'usr', 'bin', 'kubectl')

/** The main verbs of a kubectl that is sixteen versions older than the server. */
export const oldKubectl: ClientPlan = {
  name,
  async prepare() {
    if (existsSync(oldKubectlProgram)) return
    await mkdir(directory, { recursive: true })
    await mustRun(['apt-get', 'download', debianPackage], { directory })
    await mustRun(['sh', '-c', `dpkg -x ${debianPackage}_*.deb part`], { directory })
    await rename(join(directory, 'part'), join(directory, 'unpacked'))
  },
  async run({ kubeconfig }) {
    const manifest = join(directory, 'manifest.yaml')
    await writeFile(
      manifest,
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: filed}\ndata: {q: "1"}\n',
    )
    const failed: string[] = []
    let passed = 0
    for (const step of kubectlSteps) {
      const args = step.map((word) => (word === 'MANIFEST' ? manifest : word))
      const flags = ['--kubeconfig', kubeconfig, '--namespace', 'old-kubectl']
      const command = [oldKubectlProgram, ...flags, ...args]
      const { exitCode, stderr } = await runIn(command, { directory, timeoutMs: 60_000 })
      if (exitCode === 0) passed += 1
      else failed.push(`${args.join(' ')}: ${stderr.trim().split('\n').at(-1) ?? ''}`)
    }
    return { name, version: '1.20.2', passed, failed }
  },
}
