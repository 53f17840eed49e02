/**
 * The units of packaging/systemd, for a program that is a single file. A test compares them.
 */
export const unitTexts = Object.freeze({
  site: `[Unit]
Description=Skerry site: a Kubernetes control plane
Wants=network-online.target
After=network-online.target time-sync.target
StartLimitIntervalSec=0

[Service]
Type=exec
EnvironmentFile=-/etc/skerry/proxy.env
EnvironmentFile=-/etc/skerry/site.env
Environment=SKERRY_OPTIONS=
EnvironmentFile=-/etc/skerry/site-options.env
ExecStart=/usr/local/bin/skerry site --data-dir /var/lib/skerry/site $SKERRY_ARGS $SKERRY_OPTIONS
Restart=always
RestartSec=2
TimeoutStopSec=25
# An etcd of the site ends after it.
KillMode=mixed
Environment=NODE_COMPILE_CACHE=/var/cache/skerry-site
CacheDirectory=skerry-site
StateDirectory=skerry/site
StateDirectoryMode=0700
LimitNOFILE=65536

# The engine compiles at run time, so memory must be writable and executable in turn: no
# MemoryDenyWriteExecute.
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
UMask=0077

[Install]
WantedBy=multi-user.target
`,
  node: `[Unit]
Description=Skerry node: runs this machine's pods
Wants=network-online.target
After=network-online.target time-sync.target
StartLimitIntervalSec=0

[Service]
Type=exec
EnvironmentFile=-/etc/skerry/proxy.env
EnvironmentFile=-/etc/skerry/node.env
Environment=SKERRY_OPTIONS=
EnvironmentFile=-/etc/skerry/node-options.env
ExecStart=/usr/local/bin/skerry node --data-dir /var/lib/skerry/node --run-dir /run/skerry/node $SKERRY_ARGS $SKERRY_OPTIONS
Restart=always
RestartSec=2
TimeoutStopSec=25
Environment=NODE_COMPILE_CACHE=/var/cache/skerry-node
CacheDirectory=skerry-node
StateDirectory=skerry/node
StateDirectoryMode=0711
RuntimeDirectory=skerry/node
RuntimeDirectoryMode=0711
RuntimeDirectoryPreserve=yes
LimitNOFILE=1048576
TasksMax=infinity
OOMScoreAdjust=-999

# Pods outlive their agent: only the agent itself is ended, and the cgroups below are its own affair.
KillMode=process
Delegate=yes

# No sandbox options: pods are descendants of this service and would inherit them. A filter that
# forbids sethostname or mount, hidden devices or a read-only /sys break containers, not the agent.

[Install]
WantedBy=multi-user.target
`,
  witness: `[Unit]
Description=Skerry witness: votes for the masters of a site
Wants=network-online.target
After=network-online.target time-sync.target
StartLimitIntervalSec=0

[Service]
Type=exec
EnvironmentFile=-/etc/skerry/witness.env
ExecStart=/usr/local/bin/skerry witness --data-dir /var/lib/skerry/witness $SKERRY_ARGS
Restart=always
RestartSec=2
TimeoutStopSec=25
Environment=NODE_COMPILE_CACHE=/var/cache/skerry-witness
CacheDirectory=skerry-witness
StateDirectory=skerry/witness
StateDirectoryMode=0700
LimitNOFILE=65536

# The engine compiles at run time, so memory must be writable and executable in turn: no
# MemoryDenyWriteExecute.
CapabilityBoundingSet=
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
UMask=0077

[Install]
WantedBy=multi-user.target
`,
  'virtual-ip': `[Unit]
Description=Skerry virtual IP: holds an address of several masters on one that is ready
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=/usr/sbin/keepalived --dont-fork --vrrp --log-console --use-file /etc/skerry/virtual-ip/keepalived.conf --pid /run/skerry-virtual-ip/keepalived.pid --vrrp_pid /run/skerry-virtual-ip/vrrp.pid
ExecReload=/bin/kill -HUP $MAINPID
Restart=always
RestartSec=2
TimeoutStopSec=10
KillMode=mixed
RuntimeDirectory=skerry-virtual-ip
RuntimeDirectoryMode=0700

# It changes addresses and sends packets of its own; the check reads the site's authority.
CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_RAW CAP_NET_BROADCAST CAP_DAC_READ_SEARCH
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictNamespaces=yes
LockPersonality=yes
SystemCallArchitectures=native
UMask=0077

[Install]
WantedBy=multi-user.target
`,
})
