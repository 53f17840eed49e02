/** A processor that machines have, by Node's name of it. */
export type MachineArchitecture = 'x64' | 'arm64'

/** The differences between machines of two architectures. */
interface ArchitectureFacts {
  /** The program that emulates the machine, and the package that installs it. */
  readonly emulator: string
  readonly emulatorPackage: string
  /** The emulator's words for the board and the processor. */
  readonly board: string
  /** Debian's kernel for clouds: small, and its drivers are those of virtual machines. */
  readonly kernelPackage: string
  /**
   * The drivers that are loaded before the disk is there: those without which a kernel does not find it, and a clock's.
   * Some kernels have some of them built in.
   */
  readonly bootDrivers: readonly string[]
  /** The kernel's name of the serial port. */
  readonly console: string
}

export const architectures: Readonly<Record<MachineArchitecture, ArchitectureFacts>> =
  Object.freeze({
    x64: {
      emulator: '/usr/bin/qemu-system-x86_64',
      emulatorPackage: 'qemu-system-x86',
      board: '-M q35',
      kernelPackage: 'linux-image-cloud-amd64',
      bootDrivers: ['virtio_pci', 'virtio_blk', 'ext4'],
      console: 'ttyS0',
    },
    // A newer processor signs its pointers, which takes the emulator longer than everything else.
    arm64: {
      emulator: '/usr/bin/qemu-system-aarch64',
      emulatorPackage: 'qemu-system-arm',
      board: '-M virt -cpu cortex-a72',
      kernelPackage: 'linux-image-cloud-arm64',
      bootDrivers: ['virtio_pci', 'virtio_blk', 'ext4', 'rtc-pl031'],
      console: 'ttyAMA0',
    },
  })
