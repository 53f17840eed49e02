/** Gives the lead of an etcd to the member with this name; a program of a host: node move-leader.ts <url> <pki> <name>. */
import { readFile } from 'node:fs/promises'
import { systemClock } from '@skerry/base'
import { etcdPkiPaths } from '@skerry/bootstrap'
import { EtcdMemberClient } from '@skerry/store'

const [url = '', pki = '', name = ''] = process.argv.slice(2)
const read = (path: string): Promise<string> => readFile(path, 'utf8')
const { certificatePath, keyPath } = etcdPkiPaths(pki, 'client')
const tls = {
  ca: await read(etcdPkiPaths(pki, 'ca').certificatePath),
  cert: await read(certificatePath),
  key: await read(keyPath),
}
const signal = AbortSignal.timeout(20_000)
using client = new EtcdMemberClient(url, tls, systemClock)
const members = await client.members(signal)
const { leaderId } = await client.status(signal)
const urlOfLeader = members.find(({ id }) => id === leaderId)?.clientUrls[0] ?? url
using leader = new EtcdMemberClient(urlOfLeader, tls, systemClock)
await leader.moveLeader(members.find((each) => each.name === name)?.id ?? '0', signal)
