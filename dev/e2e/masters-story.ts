import assert from 'node:assert/strict'
import { containerStates, type ContainerStates } from './container-states.ts'
import { echoManifest } from './echo-manifest.ts'
import { followHistory, type FollowedHistory } from './follow-history.ts'
import type { LoadMark } from './history/history-report.ts'
import { followWatchByHub, type FollowedWatch } from './follow-watch.ts'
import {
  joinNode,
  kubectlAt,
  kubectlByHub,
  untilReady,
  type Master,
  type MastersOnHosts,
} from './masters-on-hosts.ts'
import { waitFor } from './wait-for.ts'

/** A story asserts this after a fault. The longest times of writes and controllers are those of a busy machine. */
export interface FaultBounds {
  readonly writesMs: number
  readonly controllersMs: number
  /** How many writes are to be acknowledged. */
  readonly writes: number
}

const boundsDefault: FaultBounds = { writesMs: 15_000, controllersMs: 30_000, writes: 20 }

/** Three masters under load, with pods on a node and a person at the hub, through one fault after the other. */
export class MastersStory {
  readonly scene: MastersOnHosts
  readonly #history: FollowedHistory
  readonly #watch: FollowedWatch
  readonly #before: ContainerStates
  readonly #nodeName: string
  readonly #marks: LoadMark[] = []

  private constructor(
    scene: MastersOnHosts,
    parts: {
      history: FollowedHistory
      watch: FollowedWatch
      before: ContainerStates
      nodeName: string
    },
  ) {
    this.scene = scene
    this.#history = parts.history
    this.#watch = parts.watch
    this.#before = parts.before
    this.#nodeName = parts.nodeName
  }

  static async begin(scene: MastersOnHosts): Promise<MastersStory> {
    const { cluster } = scene
    const { name: nodeName } = await joinNode(scene)
    await cluster.apply(echoManifest)
    await cluster.kubectl('rollout', 'status', 'deployment/echo', '--timeout=60s')
    const before = await containerStates(cluster, '-l', 'app=echo')
    const history = await followHistory(scene)
    const watch = await followWatchByHub(scene)
    return new MastersStory(scene, { history, watch, before, nodeName })
  }

  /** The master whose controllers act, as another one says. */
  async leader(asked: Master): Promise<Master> {
    const lease = ['get', 'lease', '-n', 'kube-system', 'kube-controller-manager']
    const path = ['-o', 'jsonpath={.spec.holderIdentity}']
    const holder = await kubectlAt(this.scene.cluster, asked, ...lease, ...path)
    const leader = this.scene.masters.find(({ host }) => holder.startsWith(`${host.name}_`))
    assert.ok(leader, holder)
    return leader
  }

  /** Waits until writes, controllers and the hub's way have gone on after a fault, and asserts how long they took. */
  async goesOn(fault: string, bounds: Partial<FaultBounds> = {}): Promise<void> {
    const { writesMs, controllersMs, writes } = { ...boundsDefault, ...bounds }
    const marks: LoadMark[] = []
    let namespaces = 0
    await waitFor(
      `writes to go on: ${fault}`,
      async () => {
        const mark = await this.#history.mark(fault)
        marks.push(mark)
        namespaces += mark.namespaces
        const written = marks.reduce((sum, { acknowledged }) => sum + acknowledged, 0)
        return written >= writes && namespaces >= 2 ? true : undefined
      },
      { timeoutMs: 45_000, diagnose: () => this.scene.cluster.diagnose() },
    )
    await this.#askByHub(fault)
    const worst = (of: 'pauseMs' | 'controllersMs') => Math.max(...marks.map((each) => each[of]))
    const told = { fault, pauseMs: worst('pauseMs'), controllersMs: worst('controllersMs') }
    this.#marks.push({ mark: fault, acknowledged: 0, namespaces, ...told })
    console.log(JSON.stringify(told))
    assert.ok(told.pauseMs < writesMs, `${fault}: no write for ${told.pauseMs} ms`)
    assert.ok(
      told.controllersMs < controllersMs,
      `${fault}: controllers took ${told.controllersMs} ms`,
    )
  }

  /** Judges the whole history: everything is as if nothing had happened. */
  async end(): Promise<void> {
    const { cluster, masters } = this.scene
    for (const master of masters) await untilReady(cluster, master)
    const { written } = await this.#history.judge()
    await this.#watch.untilShown(written.at(-1)?.key ?? '')
    assert.equal(this.#watch.isRunning(), true)
    this.#watch.stop()
    const path = '{.status.conditions[?(@.type=="Ready")].status}'
    const asked = ['get', 'node', this.#nodeName, '-o', `jsonpath=${path}`]
    assert.equal(await kubectlAt(cluster, masters[1], ...asked), 'True')
    assert.deepEqual(await containerStates(cluster, '-l', 'app=echo'), this.#before)
  }

  /** One request may meet the tunnel that has just died; a person asks again. */
  async #askByHub(fault: string): Promise<void> {
    await waitFor(`the hub to reach the site: ${fault}`, async () => {
      const found = await kubectlByHub(this.scene, 'get', 'configmap', 'made-0', '-o', 'name')
      return found.trim() === 'configmap/made-0' ? true : undefined
    })
  }
}
