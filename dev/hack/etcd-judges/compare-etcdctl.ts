import { existsSync } from 'node:fs'
import { buildOfEtcd } from './build-judges.ts'
import { playEtcdctl, type CtlAnswer } from './etcdctl-judge.ts'
import type { JudgeTarget, Verdict } from './verdict.ts'

/** etcdctl of Debian, which is older. */
const debianEtcdctl = '/usr/bin/etcdctl'

/** Plays every command of etcdctl against the server and an etcd, and compares outputs and exit codes. */
export async function compareEtcdctl({ server }: JudgeTarget): Promise<Verdict> {
  const bin = await buildOfEtcd('etcd', 'etcdctl')
  const programs = [`${bin}/etcdctl`, ...(existsSync(debianEtcdctl) ? [debianEtcdctl] : [])]
  const failed: string[] = []
  let passed = 0
  for (const program of programs) {
    const ours = await playEtcdctl(program, server)
    const theirs = await playEtcdctl(program, `${bin}/etcd`)
    for (const [at, answer] of ours.entries()) {
      const expected = theirs[at]
      if (expected !== undefined && isSame(answer, expected)) passed += 1
      else failed.push(`${program} ${answer.command}\n${textOf(expected)}\n---\n${textOf(answer)}`)
    }
  }
  return { passed, failed }
}

function isSame(one: CtlAnswer, other: CtlAnswer): boolean {
  return one.exitCode === other.exitCode && one.output === other.output
}

function textOf(answer: CtlAnswer | undefined): string {
  return `exit code ${answer?.exitCode}\n${answer?.output}`
}
