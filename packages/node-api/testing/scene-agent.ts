import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pod } from '@skerry/api'
import { createMetrics, type Clock, type Logger } from '@skerry/base'
import { createInnerServer, type ContainerRuntime, type InnerServer } from '@skerry/kubelet'

/**
 * The agent of a node of a scene: its server of logs and sessions with a container runtime whose commands send back
 * what they get, after a line with their own words.
 */
export class SceneAgent implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack
  readonly #pods: Map<string, Pod>
  readonly server: InnerServer

  private constructor(
    parts: { server: InnerServer; pods: Map<string, Pod> },
    stack: AsyncDisposableStack,
  ) {
    this.server = parts.server
    this.#pods = parts.pods
    this.#stack = stack
  }

  static async start(deps: { clock: Clock; log: Logger }): Promise<SceneAgent> {
    await using stack = new AsyncDisposableStack()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-scene-agent-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    const pods = new Map<string, Pod>()
    const runtime = stack.use(await echoRuntime(pods))
    await mkdir(join(directory, 'app'))
    await writeFile(
      join(directory, 'app', '0.log'),
      ['one', 'two'].map((line) => `2026-06-01T00:00:00.000000000Z stdout F ${line}\n`).join(''),
    )
    const directories = { logDirectory: () => directory, dataDirectory: () => directory }
    const server = stack.use(
      createInnerServer(
        {
          ...deps,
          metrics: createMetrics(),
          runtime: runtime.runtime,
          pods: {
            ...directories,
            list: () => [...pods.values()],
            find: (namespace, name) => pods.get(`${namespace}/${name}`),
          },
        },
        new AbortController().signal,
      ),
    )
    return new SceneAgent({ server, pods }, stack.move())
  }

  /** Lets a pod of the site run here. */
  run(pod: Pod): void {
    const { namespace, name } = pod.metadata
    const [container] = pod.spec?.containers ?? []
    const status = {
      name: container?.name ?? '',
      containerID: 'containerd://1',
      state: { running: {} },
      image: '',
      imageID: '',
      ready: true,
      restartCount: 0,
    }
    this.#pods.set(`${namespace}/${name}`, {
      ...pod,
      status: { phase: 'Running', containerStatuses: [status] },
    })
  }

  find(namespace: string, name: string): Pod | undefined {
    return this.#pods.get(`${namespace}/${name}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}

/** Sends back what a session sends. */
async function echoRuntime(
  pods: ReadonlyMap<string, Pod>,
): Promise<AsyncDisposable & { runtime: ContainerRuntime }> {
  const streams = createServer()
  streams.on('upgrade', (request, socket) => {
    const { upgrade = '' } = request.headers
    const words = new URL(request.url ?? '/', 'http://runtime').searchParams.getAll('word')
    socket.on('error', () => undefined)
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${upgrade}\r\n\r\n`,
    )
    socket.write(`${words.join(' ')}\n`)
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => streams.listen(0, '127.0.0.1', resolve))
  // A server that listens on TCP has an address with a port.
  const { port } = streams.address() as AddressInfo
  const url = (words: readonly (string | number)[]): string =>
    `http://127.0.0.1:${port}/?${words.map((word) => `word=${word}`).join('&')}`
  const sandboxes = () =>
    [...pods.values()].map(({ metadata: { uid = '' } }) => ({
      id: uid,
      metadata: { uid, attempt: 0 },
      state: 'SANDBOX_READY',
    }))
  const runtime = {
    exec: async ({ cmd }: { cmd: readonly string[] }) => url(['exec', ...cmd]),
    attach: async () => url(['attach']),
    portForward: async (_sandbox: string, ports: readonly number[]) => url(['forward', ...ports]),
    listPodSandboxes: async () => sandboxes(),
  }
  return {
    // Sessions need nothing else of a runtime.
    runtime: runtime as unknown as ContainerRuntime,
    async [Symbol.asyncDispose]() {
      streams.closeAllConnections()
      await new Promise<void>((resolve) => streams.close(() => resolve()))
    },
  }
}
