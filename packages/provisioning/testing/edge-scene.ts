import { simulatedClock, type SimulatedClock } from '@skerry/base'
import type { StepTables } from '../engine/plan-cluster.ts'
import type { EdgeCluster, EdgeClusterSpec } from '../kind/edge-cluster.ts'
import { departure } from '../steps/departure-table.ts'
import { removal, steps } from '../steps/steps-table.ts'
import { FakeEdge } from './fake-edge.ts'
import { fakeEdgeHub, type FakeEdgeHub } from './fake-edge-hub.ts'
import { StepStory, type Disturbance } from './step-story.ts'

const credentials = { name: 'ssh' }

/** The addresses of all machines, whether a cluster names them or not. */
const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6']
export const [first = '', second = '', third = '', fourth = '', fifth = '', sixth = ''] = addresses

const edgeTables: StepTables = { steps, departure, removal }

/** Returns blocks of machines of these roles. */
export function blocksOf(
  masters: readonly string[],
  nodes: readonly string[] = [],
  witnesses: readonly string[] = [],
): EdgeClusterSpec['machines'] {
  const block = (role: 'Master' | 'Node' | 'Witness') => (address: string) => ({
    addresses: [address],
    credentials,
    role,
  })
  return [
    ...masters.map(block('Master')),
    ...witnesses.map(block('Witness')),
    ...nodes.map(block('Node')),
  ]
}

/** An EdgeCluster, its machines, and a hub that works on it with the real steps. */
export class EdgeScene {
  readonly clock: SimulatedClock = simulatedClock(Date.parse('2026-01-01T00:00:00Z'))
  readonly world = new FakeEdge(addresses, this.clock)
  readonly story: StepStory
  readonly hub: FakeEdgeHub

  constructor(spec: EdgeClusterSpec, values: Readonly<Record<string, string>> = {}) {
    const edge: EdgeCluster = {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'EdgeCluster',
      metadata: { name: 'branch-7', namespace: 'shops', generation: 1 },
      spec,
    }
    // The hub writes into the object of the story, which exists when the first step asks.
    const object = {
      get edge(): EdgeCluster {
        return story.edge
      },
      set edge(next: EdgeCluster) {
        story.edge = next
      },
    }
    this.hub = fakeEdgeHub(this.world, values, object)
    const story = new StepStory({
      edge,
      hub: this.hub.side,
      clock: this.clock,
      open: ({ address }) => this.world.machine(address).shell(),
    })
    this.story = story
  }

  settle(disturbance: Disturbance = {}, tables: StepTables = edgeTables): Promise<void> {
    return this.story.settle(tables, disturbance)
  }

  /** Returns the state of a step on a machine, with its message. */
  step(text: string): string {
    const found = this.story.status.steps?.find(
      ({ name, machine }) => text === (machine === undefined ? name : `${name}@${machine}`),
    )
    return found === undefined ? 'there is no such step' : `${found.state}: ${found.message ?? ''}`
  }

  /** Returns the phase, with the steps that have failed. */
  ending(): string {
    const { phase = '', steps = [] } = this.story.status
    const failed = steps.filter(({ state }) => state === 'Failed')
    return [phase, ...failed.map(({ name, message = '' }) => `${name}: ${message}`)].join('; ')
  }

  /** Everything that is left of the work, on the machines and on the hub. */
  state(): unknown {
    const { claims, joins, agents } = this.hub
    const kept = { claims: [...claims], joins: [...joins], agents: [...agents] }
    return { world: this.world.state(), ...kept }
  }
}
