import { StepError, type HubSide } from '../contract/step.ts'
import { clusterNameOfEdge, type EdgeCluster } from '../kind/edge-cluster.ts'
import type { FakeEdge } from './fake-edge.ts'
import { fakePackage, fakeProgramFiles } from './fake-machine.ts'

/** The hub's side of edge clusters, and what it has kept for them. */
export interface FakeEdgeHub {
  readonly side: HubSide
  readonly claims: Set<string>
  /** The clusters whose agents may still register with a Secret. */
  readonly joins: Set<string>
  /** The imported clusters that have an agent. */
  readonly agents: Set<string>
}

const version = '0.1.0-aaaaaaaaaaaa'
const expires = '2030-01-01T00:00:00Z'

/** Makes a hub that has these values of Secrets and ConfigMaps by `<kind> <name>/<key>`, and writes into this object. */
export function fakeEdgeHub(
  world: FakeEdge,
  values: Readonly<Record<string, string>>,
  object: { edge: EdgeCluster },
): FakeEdgeHub {
  const claims = new Set<string>()
  const joins = new Set<string>()
  const agents = new Set<string>()
  const side: HubSide = {
    server: () => 'https://10.0.0.200:7443',
    claim: async (name) => void claims.add(name),
    async createToken() {
      return { token: world.makeToken('0123456789abcdef'), caHash: `sha256:${'b'.repeat(64)}` }
    },
    async isReady() {
      const agent = '/var/lib/skerry/site/agent/agent.crt'
      return [...world.machines.values()].some((each) => each.isServing && each.files.has(agent))
    },
    forget: async (name) => void claims.delete(name),
    removeLogins: async () => undefined,
    async read({ kind, name, key }) {
      const text = values[`${kind} ${name}/${key}`]
      if (text === undefined) throw new StepError(`${kind} ${name} has no key ${key}`)
      return Buffer.from(text)
    },
    dial: () => Promise.reject(new Error('Cannot dial: the machines are reached without')),
    program: async () => fakeProgramFiles(version),
    async recordProgram(_edge, machine) {
      const { status = {} } = object.edge
      const programs = { ...status.programs, [machine.address]: machine.version }
      object.edge = { ...object.edge, status: { ...status, programs } }
    },
    // Its steps are those of jobs.
    recordConfiguration: () => Promise.reject(new Error('Cannot configure: this is not a job')),
    async package({ digest }) {
      return { ...fakePackage(version, digest.slice('sha256:'.length)), etcd: [] }
    },
    imports: {
      async keepJoin(name) {
        const isNew = !joins.has(name)
        joins.add(name)
        agents.add(name)
        return { name: `${name}-join`, expires, isNew }
      },
      endJoin: async (name) => void joins.delete(name),
      async state(_name, edge) {
        const isThere = agents.has(clusterNameOfEdge(edge))
        return { isRegistered: isThere, isConnected: isThere, isReady: isThere }
      },
      removeAgent: async (name) => agents.delete(name),
    },
  }
  return { side, claims, joins, agents }
}
