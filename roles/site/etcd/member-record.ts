import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { readFileIfPresent, secretMode, writeFileDurably } from '@skerry/bootstrap'
import type { EtcdFiles } from './embedded-options.ts'

/** A master's memory of its own member. It is written before each step that it describes. */
export interface MemberRecord {
  readonly name: string
  readonly peerUrl: string
  readonly clientUrl: string
  /** The path of all keys in etcd. */
  readonly prefix: string
  /**
   * `new` until the first member of an etcd has started, `joining` while this one is a learner or about to be,
   * `member` from then on.
   */
  readonly stage: 'new' | 'joining' | 'member'
  /** The member's number; missing if it is not known yet. */
  readonly memberId?: string
  /** The client URLs of the other members when they were last seen. */
  readonly others: readonly OtherMember[]
}

export interface OtherMember {
  readonly name: string
  readonly clientUrl: string
}

export async function readMemberRecord(path: string): Promise<MemberRecord | undefined> {
  const text = await readFileIfPresent(path)
  if (text === undefined) return undefined
  const record = parsed(text)
  if (record !== undefined) return record
  throw new ExpectedError(
    `Cannot start: ${path} is damaged; restore it from a backup, or join again with --join --replaces`,
    exitCodes.dataDirectory,
  )
}

export async function writeMemberRecord(path: string, record: MemberRecord): Promise<void> {
  await writeFileDurably(path, `${JSON.stringify(record, undefined, 2)}\n`, secretMode)
}

/** Resolves true if etcd has written anything on this machine. */
export async function hasMemberData({ data }: Pick<EtcdFiles, 'data'>): Promise<boolean> {
  return stat(join(data, 'member')).then(
    () => true,
    () => false,
  )
}

function parsed(text: string): MemberRecord | undefined {
  try {
    const { name, peerUrl, clientUrl, prefix, stage, memberId, others } = JSON.parse(text)
    const texts = [name, peerUrl, clientUrl, prefix]
    if (!texts.every((each) => typeof each === 'string')) return undefined
    if (!['new', 'joining', 'member'].includes(stage)) return undefined
    const id = typeof memberId === 'string' ? { memberId } : {}
    const known = Array.isArray(others) ? others.filter(isOther) : []
    return { name, peerUrl, clientUrl, prefix, stage, ...id, others: known }
  } catch {
    // The caller reports the damage.
    return undefined
  }
}

function isOther(value: unknown): value is OtherMember {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    'clientUrl' in value &&
    typeof value.name === 'string' &&
    typeof value.clientUrl === 'string'
  )
}
