/**
 * Prints the facts that the preflight judges, each on a line. It is constant, needs a POSIX shell, and changes
 * nothing. Its first argument is the name of the hub, or nothing if the machine need not know it; its second one says
 * whether it must know its mirrors.
 */
export const factsScript = `
. /etc/os-release 2>/dev/null
echo "os $ID $VERSION_ID"
echo "architecture $(uname -m)"
echo "kernel $(uname -r)"
echo "host $(uname -n)"
echo "time $(date +%s)"
echo "machine-id $(cat /etc/machine-id 2>/dev/null)"
echo "cgroup $(stat -fc %T /sys/fs/cgroup 2>/dev/null)"
echo "processors $(nproc 2>/dev/null || grep -c ^processor /proc/cpuinfo)"
echo "memory $(sed -n 's/^MemTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo)"
echo "disk $(df -Pk /var/lib | sed -n '2s/  */ /gp' | cut -d' ' -f4)"
[ -d /run/systemd/system ] && echo "init systemd"
sed 1d /proc/swaps | while read -r name _; do echo "swap $name"; done
for path in /etc/kubernetes/kubelet.conf /etc/kubernetes/admin.conf /var/lib/rancher/k3s /var/lib/k0s /etc/kubeedge; do
  [ -e "$path" ] && echo "leftover $path"
done
for path in /var/lib/rancher/rke2 /var/snap/microk8s /var/lib/kubelet/config.yaml /var/lib/minikube /etc/origin/node; do
  [ -e "$path" ] && echo "leftover $path"
done
for link in cni0 flannel.1 cilium_host kube-ipvs0 weave antrea-gw0 nodelocaldns; do
  [ -e "/sys/class/net/$link" ] && echo "leftover-link $link"
done
for path in /sys/class/net/*; do echo "link \${path##*/}"; done
if [ -e /var/lib/skerry/settings.json ]; then echo "ours $(cat /var/lib/skerry/settings.json)"
elif [ -s /etc/skerry/machine.json ]; then echo "ours $(cat /etc/skerry/machine.json)"; fi
for path in /etc/systemd/system/skerry-*.service /usr/lib/systemd/system/skerry-*.service /var/lib/skerry/hub /var/lib/skerry/site /var/lib/skerry/node /var/lib/skerry/agent /var/lib/skerry/witness; do
  [ -e "$path" ] && echo "role $path"
done
command -v etcd >/dev/null && echo "etcd $(etcd --version 2>/dev/null | sed -n 's/^etcd Version: //p')"
cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | while read -r _ local _ state _; do
  [ "$state" = 0A ] && echo "port \${local##*:}"
done
if grep -qw overlay /proc/filesystems || modprobe -n overlay 2>/dev/null; then echo "module overlay"; fi
if [ -d /proc/sys/net/bridge ] || modprobe -n br_netfilter 2>/dev/null; then echo "module br_netfilter"; fi
command -v apt-get >/dev/null && echo "packages apt"
sed 1d /proc/net/route | while read -r link range _ _ _ _ _ mask _; do echo "route $link $range $mask"; done
missing=
for program in containerd ctr runc nft ip bridge iptables mount umount modprobe; do
  command -v "$program" >/dev/null || missing="$missing $program"
done
[ -x /usr/lib/cni/bridge ] || missing="$missing bridge-plugin"
look() {
  if timeout 5 getent ahosts "$1" >/dev/null; then echo "name-known $1"; else echo "name-unknown $2 $1"; fi
}
[ -n "$1" ] && look "$1" hub
apt-config dump 2>/dev/null | grep -qi '^Acquire::https*::Proxy "[^"]' && missing=
if [ -n "$missing" ] && [ "$2" = mirrors ]; then
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    sed -n 's/^[^#]*https*:\\/\\/\\([a-zA-Z0-9.-]*\\).*/\\1/p' | sort -u | head -n 3 |
    while read -r host; do look "$host" mirror; done
fi
list_rules() {
  "$1" -w 5 -S 2>/dev/null | head -n 5000 | while read -r rule; do echo "iptables $rule"; done
}
command -v iptables >/dev/null && list_rules iptables
[ -s /proc/net/ip_tables_names ] && command -v iptables-legacy >/dev/null && list_rules iptables-legacy
if command -v nft >/dev/null; then
  echo "nft $(nft -j -t list ruleset 2>/dev/null | head -c 200000)"
fi
exit 0
`
