import { cp, mkdir } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { clientsCache, mustRun, runIn, type ClientPlan } from './client-plan.ts'

const name = 'controller-runtime'
const version = 'v0.24.1'
const kubernetes = 'v0.36.3'
const directory = join(clientsCache, name)

/** The suites of the client that start an API server with envtest. */
const suites = [
  'builder',
  'cache',
  'client',
  'client/apiutil',
  'cluster',
  'controller',
  'controller/controllerutil',
  'envtest',
  'handler',
  'internal/controller',
  'internal/recorder',
  'manager',
  'manager/internal/integration',
  'metrics/filters',
  'reconcile',
  'source',
  'webhook',
]

const modules = [
  'api',
  'apiextensions-apiserver',
  'apimachinery',
  'apiserver',
  'client-go',
  'component-base',
  'streaming',
]

/**
 * The plan of the client's own test suites, with our API server in the place where envtest looks for
 * kube-apiserver.
 */
export const controllerRuntime: ClientPlan = {
  name,
  startsServer: true,
  async prepare() {
    if (existsSync(join(directory, 'bin', 'webhook.test'))) return
    const source = `sigs.k8s.io/${name}@${version}`
    // The go command's own JSON.
    const found = JSON.parse(await mustRun(['go', 'mod', 'download', '-json', source])) as {
      Dir: string
    }
    await mkdir(directory, { recursive: true })
    await cp(found.Dir, directory, { recursive: true })
    await mustRun(['chmod', '-R', 'u+w', directory])
    const required = modules.map((module) => `-require=k8s.io/${module}@${kubernetes}`)
    await mustRun(['go', 'mod', 'edit', ...required], { directory })
    await mustRun(['go', 'mod', 'tidy'], { directory })
    for (const suite of suites) {
      const target = join('bin', `${suite.replaceAll('/', '-')}.test`)
      await mustRun(['go', 'test', '-c', '-o', target, `./pkg/${suite}`], { directory })
    }
  },
  async run({ envtest }) {
    const failed: string[] = []
    let passed = 0
    for (const suite of suites) {
      const program = join(directory, 'bin', `${suite.replaceAll('/', '-')}.test`)
      const { stdout, exitCode } = await runIn([program, '-ginkgo.no-color', '-test.v'], {
        directory: join(directory, 'pkg', suite),
        env: { KUBEBUILDER_ASSETS: envtest },
      })
      const found = failuresOf(stdout).map((line) => `${suite}: ${line}`)
      passed += passesOf(stdout)
      failed.push(...found)
      if (exitCode !== 0 && found.length === 0) failed.push(`${suite}: ended with ${exitCode}`)
    }
    return { name, version, passed, failed }
  },
}

/** Counts passed specs of Ginkgo and plain subtests. */
function passesOf(output: string): number {
  const specs = Array.from(output.matchAll(/(\d+) Passed/g), (match) => Number(match[1]))
  const subtests = output.match(/^ +--- PASS/gm) ?? []
  return specs.reduce((sum, count) => sum + count, 0) + subtests.length
}

function failuresOf(output: string): string[] {
  return Array.from(
    output.matchAll(/^ +\[FAIL\] (.+)$|^ +--- FAIL: (\S+)/gm),
    (match) => match[1] ?? match[2] ?? '',
  )
}
