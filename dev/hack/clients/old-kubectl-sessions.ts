import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { messageOf } from '@skerry/base'
import type { CommandResult, RunOptions, TestHost } from '@skerry/testing'
import { startCloud } from '../../e2e/cloud.ts'
import { ClusterOnHosts } from '../../e2e/cluster-on-hosts.ts'
import { openTerminal } from '../../e2e/terminal.ts'
import { waitFor } from '../../e2e/wait-for.ts'
import type { SessionPlan } from './client-plan.ts'
import { oldKubectl, oldKubectlProgram } from './old-kubectl.ts'

const name = 'kubectl-1.20-sessions'

/** The second pod prints its input. */
const pods = `
apiVersion: v1
kind: Pod
metadata: { name: beacon, namespace: default }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - name: main
      image: skerry-examples/guestbook:v1
      command: [sh, -c, 'echo lit; exec httpd -f -p 8080 -h /www']
---
apiVersion: v1
kind: Pod
metadata: { name: parrot, namespace: default }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - name: main
      image: skerry-examples/guestbook:v1
      stdin: true
      tty: true
      command: [sh, -c, 'while read -r line; do echo "said: $line"; done']
`

interface Scene {
  readonly directory: string
  readonly host: TestHost
  /** Returns the command of kubectl 1.20, to run where the server is reachable. */
  readonly command: (args: readonly string[]) => string[]
  /** Throws unless it ends with the code. */
  readonly run: (
    args: readonly string[],
    options?: RunOptions & { exitCode?: number },
  ) => Promise<CommandResult>
}

/** Runs its exec, attach, port-forward and cp, over SPDY. */
export const oldKubectlSessions: SessionPlan = {
  name,
  prepare: () => oldKubectl.prepare(),
  async runOnNode({ isThroughHub }) {
    await using cluster = await ClusterOnHosts.start()
    await cluster.addNode(1)
    const scene = isThroughHub ? await behindHub(cluster) : onSite(cluster)
    const failed: string[] = []
    let passed = 0
    for (const [what, check] of Object.entries(checks)) {
      try {
        await check(scene)
        passed += 1
      } catch (error) {
        failed.push(`${what}: ${messageOf(error)}`)
      }
    }
    return { name, version: '1.20.2', passed, failed }
  },
}

function onSite(cluster: ClusterOnHosts): Scene {
  return sceneOf(cluster, cluster.siteHost, cluster.kubeconfig)
}

async function behindHub(cluster: ClusterOnHosts): Promise<Scene> {
  const { host, kubeconfig } = await startCloud(cluster)
  return sceneOf(cluster, host, kubeconfig)
}

function sceneOf({ directory }: ClusterOnHosts, host: TestHost, kubeconfig: string): Scene {
  const cache = join(directory, 'old-kubectl-cache')
  const flags = ['--kubeconfig', kubeconfig, '--cache-dir', cache]
  const command = (args: readonly string[]) => [oldKubectlProgram, ...flags, ...args]
  return {
    directory,
    host,
    command,
    async run(args, { exitCode = 0, ...options } = {}) {
      const result = await host.run(command(args), { timeoutMs: 120_000, ...options })
      if (result.exitCode === exitCode) return result
      throw new Error(`exit code ${result.exitCode}: ${result.stderr.trim()}`)
    },
  }
}

/** The checks, in this order. */
const checks: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  async 'apply and wait'({ run }) {
    await run(['apply', '-f', '-'], { input: pods })
    await run(['wait', 'pod/beacon', 'pod/parrot', '--for=condition=Ready', '--timeout=90s'])
  },

  async logs({ run }) {
    expect((await run(['logs', 'beacon'])).stdout, 'lit\n')
  },

  async 'logs -f'({ host, command }) {
    const child = host.start(command(['logs', '-f', 'beacon']), {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const exited = once(child, 'exit')
    try {
      if (child.stdout === null) throw new Error('no output')
      expect(String((await once(child.stdout, 'data'))[0]), 'lit\n')
    } finally {
      child.kill('SIGTERM')
      await exited
    }
  },

  async 'exec: output, error, exit code'({ run }) {
    const words = ['sh', '-c', 'echo out; echo err >&2; exit 7']
    const { stdout, stderr } = await run(['exec', 'beacon', '--', ...words], { exitCode: 7 })
    expect(stdout, 'out\n')
    expect(stderr.split('\n')[0] ?? '', 'err')
  },

  async 'exec -i: input and its end'({ run }) {
    const input = 'to be counted\n'.repeat(50_000)
    const words = ['busybox', 'wc', '-c']
    const { stdout } = await run(['exec', '-i', 'beacon', '--', ...words], { input })
    expect(stdout.trim(), String(input.length))
  },

  async 'exec -it: keys, the size of the window, exit code'({ host, command }) {
    const script = `trap 'echo window $(busybox stty size)' WINCH; echo ready
      while true; do read -r line || continue; [ "$line" = close ] && exit 3; done`
    const words = command(['exec', '-it', 'beacon', '--', 'sh', '-c', script])
    await using terminal = await openTerminal(host, words)
    await terminal.until(/^ready\r$/m)
    await terminal.resize({ rows: 33, columns: 101 })
    await terminal.until(/^window 33 101\r$/m)
    terminal.type('close\r')
    expect(String(await terminal.ended), '3')
  },

  async 'attach -it: input to what runs'({ host, command }) {
    await using terminal = await openTerminal(host, command(['attach', '-it', 'parrot']))
    await terminal.until(/try pressing enter/)
    terminal.type('hello\r')
    await terminal.until(/^said: hello\r$/m)
  },

  async 'run -i --rm: a pod of its own'({ run }) {
    const image = '--image=skerry-examples/redis:7.0'
    const flags = ['--rm', '-i', '--quiet', '--restart=Never']
    const words = ['sh', '-c', 'read x; echo "got $x"']
    const { stdout } = await run(['run', 'brief', image, ...flags, '--', ...words], {
      input: 'it\n',
    })
    expect(stdout.split('\n')[0] ?? '', 'got it')
  },

  async 'port-forward, many times'({ host, command }) {
    const child = host.start(command(['port-forward', 'pod/beacon', ':8080']), {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    try {
      const port = await portOf(child.stdout)
      for (let time = 0; time < 5; time += 1) {
        const url = `http://127.0.0.1:${port}/healthz`
        const { stdout } = await host.run(['busybox', 'wget', '-q', '-O', '-', url])
        expect(stdout, 'ok\n')
      }
    } finally {
      child.kill('SIGTERM')
      await exited
    }
  },

  async 'cp of 50 MB there and back'({ directory, run }) {
    const bytes = randomBytes(50 * 1024 * 1024)
    const [there, back] = [join(directory, 'there'), join(directory, 'back')]
    await writeFile(there, bytes)
    await run(['cp', there, 'beacon:/tmp/cargo'])
    await run(['cp', 'beacon:/tmp/cargo', back])
    expect(hashOf(await readFile(back)), hashOf(bytes))
  },

  async 'get --watch'({ host, command, run }) {
    const child = host.start(command(['get', 'configmaps', '--watch', '-o', 'name']), {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const exited = once(child, 'exit')
    try {
      if (child.stdout === null) throw new Error('no output')
      await run(['create', 'configmap', 'first'])
      for await (const line of createInterface({ input: child.stdout })) {
        if (line === 'configmap/first') break
      }
    } finally {
      child.kill('SIGTERM')
      await exited
    }
  },

  async top({ run }) {
    const { stdout } = await waitFor('figures', () => run(['top', 'pod', 'beacon']))
    if (!/^beacon +\d+m +\d+Mi/m.test(stdout)) throw new Error(stdout)
  },

  async delete({ run }) {
    await run(['delete', 'pod', 'beacon', 'parrot', '--wait'])
  },
}

async function portOf(output: NodeJS.ReadableStream | null): Promise<string> {
  if (output === null) throw new Error('no output')
  for await (const line of createInterface({ input: output })) {
    const port = /Forwarding from 127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    if (port !== undefined) return port
  }
  throw new Error('it ended before it listened')
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function expect(actual: string, expected: string): void {
  if (actual !== expected) throw new Error(`expected "${expected}", got "${actual}"`)
}
