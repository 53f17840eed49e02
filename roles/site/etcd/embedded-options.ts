import { join } from 'node:path'
import { etcdPkiDirectory } from '@skerry/bootstrap'

/** An etcd that the site itself starts, and its place among those of the other masters. */
export interface EmbeddedEtcdOptions {
  /** This master's name among the members. */
  readonly memberName: string
  /** Path of an etcd. If omitted, one that is found or installed. */
  readonly program?: string | undefined
  readonly ports: EtcdPorts
  /**
   * Milliseconds between two heartbeats, half to one and a half times the round trip between the members; an
   * election begins after ten without one. https://etcd.io/docs/v3.5/tuning/
   */
  readonly heartbeatMs: number
  /** The size of the file at which etcd refuses writes. */
  readonly quotaBytes: number
  /** Snapshots on this machine's disk. */
  readonly backups: BackupPlan
  /** Needed only until this master is a member. */
  readonly joining?: JoiningOptions | undefined
}

export interface EtcdPorts {
  readonly client: number
  readonly peer: number
}

export interface BackupPlan {
  readonly everyMs: number
  readonly keep: number
}

export interface JoiningOptions {
  /** The URL of a master that serves. */
  readonly server: string
  /** Resolves with the token of `skerry token create --master`. Called if this master has not joined yet. */
  readonly readToken: () => Promise<string>
  readonly caHash: string | undefined
  /** The name of a dead master whose place this one takes. */
  readonly replaces?: string | undefined
}

/** The files of a site's etcd below the site's data directory. */
export interface EtcdFiles {
  readonly root: string
  /** etcd's own data directory. */
  readonly data: string
  readonly record: string
  readonly log: string
  /** The number of the process that runs. */
  readonly pid: string
  /** The process of Skerry that has the member; see own-member.ts. */
  readonly owner: string
  readonly backups: string
  /** An etcd that was installed for this site. */
  readonly program: string
  readonly pki: string
}

export function etcdFiles(dataDir: string): EtcdFiles {
  const root = join(dataDir, 'etcd')
  return {
    root,
    data: join(root, 'data'),
    record: join(root, 'member.json'),
    log: join(root, 'etcd.log'),
    pid: join(root, 'etcd.pid'),
    owner: join(root, 'owner.pid'),
    backups: join(root, 'backups'),
    program: join(root, 'program'),
    pki: etcdPkiDirectory(join(dataDir, 'pki')),
  }
}

/** Returns the port of a URL, also if it is the usual one, which URLs leave out. */
export function portOf(url: string): number {
  return Number(new URL(url).port || 443)
}
