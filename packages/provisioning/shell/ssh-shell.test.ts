import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '@skerry/base'
import {
  createTestNetwork,
  startTestMachine,
  until,
  whyNoMachine,
  type TestMachine,
} from '@skerry/testing'
import { ShellError, type Login } from '../contract/shell.ts'
import { shellContract, type ShellSubject } from '../testing/shell-contract.ts'
import { startWay } from '../testing/host-way.ts'
import { sshShells } from './ssh-shell.ts'

const skip = await whyNoMachine()
const openShell = sshShells({ clock: systemClock })
const { signal } = new AbortController()

let machine: TestMachine
let port: number
const stack = new AsyncDisposableStack()

async function openAs(login: Omit<Login, 'port'>): Promise<ShellSubject> {
  const request = { address: '127.0.0.1', login: { ...login, port }, isHostKeyAccepted: () => true }
  const shell = await openShell(request, signal)
  return {
    shell,
    async plant(path, content) {
      await machine.ask(['sh', '-c', 'cat >"$1"; chown "$2" "$1"', 'sh', path, login.user], {
        input: content,
      })
    },
    [Symbol.asyncDispose]: () => shell[Symbol.asyncDispose](),
  }
}

/** Lists what logins keep on the machine. */
const scratch = ['sh', '-c', 'ls -A /var/tmp | grep skerry; exit 0']

describe('over a real sshd', { skip, timeout: 200_000 }, () => {
  before(async () => {
    const network = stack.use(await createTestNetwork())
    const host = await network.addHost(1)
    machine = stack.use(await startTestMachine(host, 'contract'))
    port = stack.use(await startWay(host)).port
  })
  after(() => stack.disposeAsync())

  shellContract('OpenSSH as root', () => openAs({ user: 'root', password: machine.passwords.root }))
  shellContract('OpenSSH as a user with sudo and a password', () =>
    openAs({ user: 'keeper', password: machine.passwords.keeper }),
  )

  test('the messages of a command do not wait for each other', async () => {
    const socket = connect(port, '127.0.0.1')
    const asked: (boolean | undefined)[] = []
    const set = socket.setNoDelay.bind(socket)
    socket.setNoDelay = (isSet) => {
      asked.push(isSet)
      return set(isSet)
    }
    const login = { user: 'root', password: machine.passwords.root, port }
    const way = { text: 'through the test', dial: async () => socket }
    const request = { address: '127.0.0.1', login, way, isHostKeyAccepted: () => true }
    await using shell = await openShell(request, signal)
    await shell.run(['true'])
    // Without it, TCP holds each message for 40 ms.
    assert.equal(asked.at(-1), true)
  })

  test('a server that takes the password in a dialogue alone gets it there', async () => {
    const file = '/etc/ssh/sshd_config.d/a-dialogue.conf'
    const lines = 'PasswordAuthentication no\nKbdInteractiveAuthentication yes\n'
    // A reload returns before sshd listens again, a restart does not.
    const write = `printf '${lines}' >${file}; systemctl restart ssh`
    await machine.ask(['sh', '-c', write])
    try {
      const { root } = machine.passwords
      await using subject = await openAs({ user: 'root', password: root })
      assert.equal((await subject.shell.run(['true'])).exitCode, 0)
      await assert.rejects(openAs({ user: 'root', password: 'wrong' }), /neither the password/)
    } finally {
      await machine.ask(['sh', '-c', `rm ${file}; systemctl restart ssh`])
    }
  })

  test('a login leaves nothing on the machine', async () => {
    {
      await using subject = await openAs({ user: 'root', password: machine.passwords.root })
      await subject.shell.run(['true'])
      assert.notEqual(await machine.ask(scratch), '')
    }
    assert.equal(await machine.ask(scratch), '')
  })

  test('a connection that breaks ends its commands and leaves nothing on the machine', async () => {
    const subject = await openAs({ user: 'keeper', password: machine.passwords.keeper })
    const refused = assert.rejects(subject.shell.run(['sleep', '987652']), ShellError)
    const sleeps = async (): Promise<boolean> =>
      (await machine.run(['pgrep', '-f', 'sleep 98765[2]'])).exitCode === 0
    await until(sleeps)
    await machine.ask(['pkill', '-KILL', '-f', 'sshd: keeper'])
    await refused
    await until(async () => !(await sleeps()))
    await until(async () => (await machine.ask(scratch)) === '')
    await subject[Symbol.asyncDispose]()
  })

  test('a wrong password and a user without sudo have faults of their own', async () => {
    const faults: unknown[] = []
    for (const [user, password, sudoPassword] of [
      ['root', 'wrong', undefined],
      ['keeper', machine.passwords.keeper, 'wrong'],
    ] as const) {
      const sudo = sudoPassword === undefined ? {} : { sudoPassword }
      await openAs({ user, password, ...sudo }).catch((error: unknown) => faults.push(error))
    }
    assert.ok(faults.every((error) => error instanceof ShellError))
    assert.deepEqual(
      faults.map(({ fault }) => fault),
      ['login', 'root'],
    )
    assert.equal(await machine.ask(scratch), '')
  })

  test('a user whose sudo asks for nothing logs in by a key with a passphrase, and a wrong one is named', async () => {
    const [rule, file] = ['/etc/sudoers.d/keeper', '/root/login']
    const make = [
      `ssh-keygen -q -t ed25519 -N 'correct horse' -f ${file}`,
      `install -D -o keeper -m 600 ${file}.pub /home/keeper/.ssh/authorized_keys`,
      `echo 'keeper ALL=(ALL) NOPASSWD: ALL' >${rule}`,
    ]
    await machine.ask(['sh', '-c', make.join(' && ')])
    try {
      const login = { user: 'keeper', privateKey: await machine.ask(['cat', file]) }
      await using subject = await openAs({ ...login, passphrase: 'correct horse' })
      assert.equal((await subject.shell.run(['id', '-u'])).stdout, '0\n')
      await assert.rejects(openAs({ ...login, passphrase: 'wrong' }), (error) => {
        assert.ok(error instanceof ShellError)
        assert.equal(error.fault, 'login')
        assert.match(error.message, /its passphrase is wrong; correct the Secret$/)
        return true
      })
    } finally {
      await machine.ask(['rm', '-r', rule, file, `${file}.pub`, '/home/keeper/.ssh'])
    }
  })

  test('a login whose start-up file prints something fails with its name', async () => {
    const config = '/etc/ssh/sshd_config'
    await machine.ask(['sed', '-i.before', '1i echo welcome', '/root/.bashrc'])
    try {
      const login = { user: 'root', password: machine.passwords.root }
      const told = /let no start-up file of root, such as ~\/\.bashrc, print anything$/
      await assert.rejects(openAs(login), told)
      // A server of files within sshd starts no shell, so that commands are the first to notice.
      const inside = `sed -i.before 's,/usr/lib/openssh/sftp-server,internal-sftp,' ${config}`
      await machine.ask(['sh', '-c', `${inside} && systemctl restart ssh`])
      await assert.rejects(openAs(login), told)
      assert.equal(await machine.ask(scratch), '')
    } finally {
      const restore = `for each in ${config} /root/.bashrc; do [ ! -e $each.before ] || mv $each.before $each; done`
      await machine.ask(['sh', '-c', `${restore}; systemctl restart ssh`])
    }
  })

  test('a machine without room for a login gets no further directory by each attempt', async () => {
    await machine.ask(['sh', '-c', 'mount -t tmpfs -o size=16k tmpfs /var/tmp'])
    try {
      await machine.run(['sh', '-c', 'cat /dev/zero >/var/tmp/zeros'])
      const login = { user: 'root', password: machine.passwords.root }
      await assert.rejects(openAs(login), /^ShellError: Cannot write .*check its free space/)
      assert.equal(await machine.ask(scratch), '')
    } finally {
      await machine.ask(['umount', '/var/tmp'])
    }
  })

  test('a key that is not accepted is refused before the password is sent', async () => {
    const login = { user: 'root', password: machine.passwords.root, port }
    const request = { address: '127.0.0.1', login, isHostKeyAccepted: () => false }
    const shown = await machine.hostKey()
    await assert.rejects(openShell(request, signal), (error) => {
      assert.ok(error instanceof ShellError)
      assert.deepEqual([error.fault, error.cause], ['host-key', shown])
      return true
    })
  })
})
