import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readChecks, runIn } from '../clients/client-plan.ts'
import { compareCreateRates, judgeApiServers } from './apiserver-judge.ts'
import {
  buildOfEtcd,
  buildOwn,
  buildRobustness,
  buildStorageTests,
  directoryOfTests,
  toolsBeside,
} from './build-judges.ts'
import { compareEtcdctl } from './compare-etcdctl.ts'
import { judgeConformance } from './conformance-judge.ts'
import { commonExcused, commonSkipped } from './excused-tests-table.ts'
import { runEachGoTest, runGoTests } from './go-tests.ts'
import { judgeKarmada } from './karmada-judge.ts'
import { startMember } from './start-member.ts'
import type { Judge, JudgeTarget, Verdict } from './verdict.ts'

/** A file system in memory. */
const memory = '/dev/shm'
const kineVersion = 'v0.17.5'

/** The real users of etcd that `skerry etcd` must satisfy. */
export const judges: Readonly<Record<string, Judge>> = Object.freeze({
  storage: { title: "Kubernetes' tests of storage/etcd3", run: runStorage },
  apiserver: { title: 'kube-apiserver 1.34 to 1.36, or the versions named', run: judgeApiServers },
  conformance: {
    title: "Kubernetes' conformance tests without pods, on upstream's API server and controllers",
    run: judgeConformance,
  },
  rate: {
    title: "kube-apiserver's creates per second, in turns with etcd",
    run: compareCreateRates,
  },
  etcdctl: {
    title: 'every command of etcdctl but members’, compared with etcd',
    run: compareEtcdctl,
  },
  common: { title: "etcd's tests/common by etcdctl, those of one member", run: runCommon },
  robustness: {
    title: "etcd's robustness checker with kills; ROUNDS=5 repeats",
    run: runRobustness,
  },
  kine: { title: "K3s' way to a datastore: kine's client", run: runKine },
  karmada: { title: "Karmada's control plane", run: judgeKarmada },
})

async function runStorage({ server, more }: JudgeTarget): Promise<Verdict> {
  const program = await buildStorageTests()
  const directory = join(program, '../../apiserver/pkg/storage/etcd3')
  const env = { ETCD_PROGRAM: server }
  // Upstream starts its etcd without a wait for the disk, and some tests allow an answer 100 ms.
  const temporary = existsSync(memory) ? { temporary: memory } : {}
  return runGoTests({ program, directory, args: more, env, ...temporary })
}

async function runCommon({ server, more }: JudgeTarget): Promise<Verdict> {
  const program = join(await buildOfEtcd('common.test'), 'common.test')
  const directory = await directoryOfTests('common')
  const args = [`-bin-dir=${await toolsBeside(server)}`, `-test.skip=${commonSkipped}`, ...more]
  return runEachGoTest({ program, directory, args }, (name) => commonExcused.has(name))
}

async function runRobustness({ server, more }: JudgeTarget): Promise<Verdict> {
  const program = await buildRobustness()
  const directory = await directoryOfTests('robustness')
  const args = [`-bin-dir=${await toolsBeside(server)}`, ...more]
  return runGoTests({ program, directory, args })
}

async function runKine({ server }: JudgeTarget): Promise<Verdict> {
  const program = await buildOwn('kine-client', `github.com/k3s-io/kine@${kineVersion}`)
  await using member = await startMember(server)
  return readChecks(await runIn([program, member.endpoint], { timeoutMs: 120_000 }))
}
