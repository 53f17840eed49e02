import { kubeletBounds } from '../limits-table.ts'

/**
 * The program of every sandbox's first process, as machine code: it blocks SIGINT, SIGTERM and
 * SIGCHLD, then waits for one of them; on SIGCHLD it reaps all zombies, on the others it exits
 * with 0. Ships as bytes so that a node needs neither a registry nor a compiler.
 */
export type PauseArchitecture = 'amd64' | 'arm64'

const amd64Code = [
  '6802400100', // push 0x14002            the signal set: bits 1, 14, 16
  '31ff 4889e6 31d2 6a08 415a', // edi = SIG_BLOCK, rsi = rsp, edx = 0, r10 = 8
  '6a0e 58 0f05', // rt_sigprocmask
  '4889e7 31f6 31d2 6a08 415a', // wait: rdi = rsp, esi = 0, edx = 0, r10 = 8
  'b880000000 0f05', // rt_sigtimedwait
  '83f80f 741c', // SIGTERM: exit
  '83f802 7417', // SIGINT: exit
  '4883cfff 31f6 6a01 5a 4531d2', // reap: rdi = -1, esi = 0, edx = WNOHANG, r10 = 0
  '6a3d 58 0f05', // wait4
  '85c0 7feb', // more than 0: reap
  'ebcd', // wait
  '31ff b8e7000000 0f05', // exit: exit_group(0)
]

const arm64Code = [
  '430088d2 2300a0f2 e30f1ff8', // push 0x14002
  '000080d2 e1030091 020080d2 030180d2', // x0 = SIG_BLOCK, x1 = sp, x2 = 0, x3 = 8
  'e81080d2 010000d4', // rt_sigprocmask
  'e0030091 010080d2 020080d2 030180d2', // wait: x0 = sp, x1 = 0, x2 = 0, x3 = 8
  '281180d2 010000d4', // rt_sigtimedwait
  '1f3c00f1 80010054', // SIGTERM: exit
  '1f0800f1 40010054', // SIGINT: exit
  '00008092 010080d2 220080d2 030080d2', // reap: x0 = -1, x1 = 0, x2 = WNOHANG, x3 = 0
  '882080d2 010000d4', // wait4
  '1f0000f1 2cffff54', // more than 0: reap
  'eeffff17', // wait
  '000080d2 c80b80d2 010000d4', // exit: exit_group(0)
]

interface Machine {
  /** The e_machine of ELF. */
  elfMachine: number
  code: readonly string[]
}

const machines: Readonly<Record<PauseArchitecture, Machine>> = Object.freeze({
  amd64: { elfMachine: 62, code: amd64Code },
  arm64: { elfMachine: 183, code: arm64Code },
})

const { elfHeaderBytes, programHeaderBytes } = kubeletBounds.pauseProgram
const loadAddress = 0x400000n

/** A static ELF-64 executable with one read-and-execute segment. */
export function pauseProgram(architecture: PauseArchitecture): Uint8Array {
  const machine = machines[architecture]
  const code = Buffer.from(machine.code.join('').replaceAll(' ', ''), 'hex')
  const codeOffset = elfHeaderBytes + programHeaderBytes
  const file = Buffer.alloc(codeOffset + code.length)
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]) // magic, 64 bit, little endian, version 1
  file.writeUInt16LE(2, 16) // executable
  file.writeUInt16LE(machine.elfMachine, 18)
  file.writeUInt32LE(1, 20)
  file.writeBigUInt64LE(loadAddress + BigInt(codeOffset), 24) // entry
  file.writeBigUInt64LE(BigInt(elfHeaderBytes), 32) // where the program header is
  file.writeUInt16LE(elfHeaderBytes, 52)
  file.writeUInt16LE(programHeaderBytes, 54)
  file.writeUInt16LE(1, 56) // one program header
  file.writeUInt16LE(64, 58)
  file.writeUInt32LE(1, 64) // PT_LOAD
  file.writeUInt32LE(5, 68) // read and execute
  file.writeBigUInt64LE(loadAddress, 80)
  file.writeBigUInt64LE(loadAddress, 88)
  file.writeBigUInt64LE(BigInt(file.length), 96)
  file.writeBigUInt64LE(BigInt(file.length), 104)
  file.writeBigUInt64LE(0x10000n, 112) // alignment: the largest page size of either machine
  file.set(code, codeOffset)
  return file
}
