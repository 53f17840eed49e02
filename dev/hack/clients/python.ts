import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientsCache, mustRun, runIn, type ClientPlan } from './client-plan.ts'

/** The Python client's tests of its dynamic client: those that need a cluster and are published. */
export const python = pythonPlan({
  name: 'python',
  package: 'kubernetes',
  version: '36.0.0',
  tests: ['test_client', 'test_discovery'],
})

export const asyncPython = pythonPlan({
  name: 'python-asyncio',
  package: 'kubernetes_asyncio',
  version: '36.1.0',
  tests: ['client_test', 'discovery_test'],
})

interface PythonClient {
  readonly name: string
  readonly package: string
  readonly version: string
  /** The modules below the package's folder dynamic. */
  readonly tests: readonly string[]
}

function pythonPlan(client: PythonClient): ClientPlan {
  const { name, version, tests } = client
  const directory = join(clientsCache, name)
  const program = join(directory, 'venv', 'bin', 'python')
  return {
    name,
    async prepare() {
      if (existsSync(join(directory, 'ready'))) return
      await mkdir(directory, { recursive: true })
      await mustRun(['python3', '-m', 'venv', 'venv'], { directory })
      await install(client, directory)
      await writeFile(join(directory, 'ready'), '')
    },
    async run({ kubeconfig }) {
      await forgetDiscovery()
      const modules = tests.map((test) => `${client.package}.dynamic.${test}`)
      const command = [program, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--pyargs']
      const { stdout } = await runIn([...command, ...modules], {
        directory,
        env: { KUBECONFIG: kubeconfig },
      })
      const failed = Array.from(
        stdout.matchAll(/^(?:FAILED|ERROR) \S*::(\S+)/gm),
        (match) => match[1] ?? '',
      )
      const passed = Number(/(\d+) passed/.exec(stdout)?.[1] ?? 0)
      if (passed === 0) failed.push(stdout.trim().split('\n').at(-1) ?? '')
      return { name, version, passed, failed }
    },
  }
}

/** Installs from the source archive: the installed package lacks the tests, and both lack their base. */
async function install(client: PythonClient, directory: string): Promise<void> {
  const { package: packageName, version } = client
  const pip = [join(directory, 'venv', 'bin', 'python'), '-m', 'pip']
  const source = `${packageName}==${version}`
  await mustRun([...pip, 'download', '--no-deps', '--no-binary', ':all:', source], { directory })
  await mustRun(['tar', 'xzf', `${packageName}-${version}.tar.gz`], { directory })
  const unpacked = join(directory, `${packageName}-${version}`)
  await mustRun([...pip, 'install', '-q', unpacked, 'pytest'], { directory })
  const find = `import ${packageName}, os; print(os.path.dirname(${packageName}.__file__))`
  const installed = (await mustRun([pip[0] ?? '', '-c', find])).trim()
  for (const test of client.tests) {
    const file = join('dynamic', `${test}.py`)
    await copyFile(join(unpacked, packageName, file), join(installed, file))
  }
  const base = join(installed, 'e2e_test')
  await mkdir(base, { recursive: true })
  await writeFile(join(base, '__init__.py'), '')
  const name = packageName === 'kubernetes' ? 'sync_base.py' : 'async_base.py'
  await copyFile(join(import.meta.dirname, 'python', name), join(base, 'base.py'))
}

/** Removes the client's discovery cache, which it keeps by the server's address for the next run. */
async function forgetDiscovery(): Promise<void> {
  for (const file of await readdir(tmpdir())) {
    if (file.startsWith('osrcp-')) await rm(join(tmpdir(), file), { force: true })
  }
}
