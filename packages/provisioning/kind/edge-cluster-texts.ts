import type { KindTexts } from '@skerry/api'
import { configurationTexts } from './role-options.ts'
import { wayTexts } from './way-texts.ts'

const schemaName = 'io.skerry.hub.v1alpha1.EdgeCluster'

/** The texts of an EdgeCluster's fields, for kubectl explain. */
export const edgeClusterTexts: KindTexts = Object.freeze({
  ...wayTexts(schemaName),
  ...configurationTexts(schemaName),
  [schemaName]: {
    description:
      'Machines with an operating system and SSH, of which the hub makes a cluster that is on the hub. Its Secrets and ConfigMaps are in its own namespace.',
    fields: {
      spec: 'The cluster that is wanted.',
      status: 'The work that the hub has done, and the facts that it has seen.',
    },
  },
  [`${schemaName}Spec`]: {
    description: 'The cluster that is wanted.',
    fields: {
      displayName: 'The name for people.',
      clusterName:
        "The name of the Cluster on the hub. If omitted, the object's own name. It may not be changed.",
      hubServer:
        "The URL https://host:port at which the machines reach the hub. If omitted, the hub's own address.",
      networkInterface:
        "The interface whose first IPv4 address is the machine's in the cluster, such as eth0. If omitted, the address of SSH.",
      network: 'The ranges of addresses and the DNS domain. They may not be changed.',
      apiNames: "Further names and addresses of the cluster's API, for its certificate.",
      machines: 'The machines, in blocks that have everything but their address in common.',
      highAvailability:
        'How clients from outside reach several masters. Nodes and agents know all of them.',
      store: 'Where the cluster keeps its objects. Several masters need the type Etcd.',
      package:
        'The offline package of which the machines are made. If omitted, they use their own mirrors.',
      files:
        'Files that are copied to each machine before anything is installed. A change copies them again, and takes back those that are gone.',
      hooks:
        'Scripts that each machine runs as root before and after the installation. A changed script runs on machines that join later, and elsewhere if somebody retries its step.',
      mastersTakeWorkloads:
        'Whether masters run pods of users, too. The default is true; false gives their nodes the taint of control planes. It may not be changed.',
      skipSteps:
        'The names of steps that are not done, as Preflight or Preflight@10.0.0.11. Steps of the hub are always done.',
      retry: 'How often a step is tried.',
      paused:
        'While true, no step begins. The steps that run are finished. The annotation hub.skerry.io/pause does the same.',
      deletion: 'The fate of the machines when the object is deleted.',
      mode: 'Check logs in to the machines and checks them, and changes nothing; the phase is Checked or Failed then. Make makes the cluster, and is the default. Check may be changed to Make, but not Make to Check.',
      machinesAtOnce:
        'How many machines are worked on at the same time. The default is 10, the most 50.',
      version:
        'The version of the program with which the cluster is made. If omitted, the newest that the hub has. Machines that join later get that of their master.',
      proxy:
        "The HTTP proxy of the machines: for apt, for images, and for the site's way to the hub. Pods do not get it.",
      registries: 'Mirrors of image registries.',
      import:
        'The cluster exists and joins by a manifest; there are no machines then. The field may be empty.',
      addons:
        'Manifests that are applied to the cluster when its nodes are Ready. Objects that are in none of them any more are removed.',
    },
  },
  [`${schemaName}Network`]: {
    fields: {
      podCIDR: 'The range of the addresses of pods. The default is 10.42.0.0/16.',
      serviceCIDR: 'The range of the addresses of services. The default is 10.43.0.0/16.',
      dnsDomain: "The cluster's DNS domain. The default is cluster.local.",
      podsPerNode:
        'How many pods a node runs at most: 8 to 500, by default 110. A node gets a share of the pod range with at least twice as many addresses, so more pods on a node mean fewer nodes. status.capacity shows the figures.',
    },
  },
  [`${schemaName}Proxy`]: {
    fields: {
      httpProxy: 'The proxy for http:// addresses, such as http://proxy.example:3128.',
      httpsProxy: 'The proxy for https:// addresses, such as http://proxy.example:3128.',
      noProxy:
        "Further addresses, ranges such as 10.0.0.0/8 and domains such as .example.com without proxy. The cluster's ranges, domain and machines are added by themselves.",
      credentials: 'The Secret with the keys username and password for the proxy.',
    },
  },
  [`${schemaName}RegistryMirror`]: {
    fields: {
      host: 'The registry as images name it, such as docker.io or registry.example:5000; * stands for every other one.',
      endpoints:
        'The URLs that are asked in this order, before the registry itself, such as https://mirror.example:5000.',
    },
  },
  [`${schemaName}AddOn`]: {
    fields: {
      configMap: 'The name of the ConfigMap.',
      key: 'The key whose value is a text of manifests in YAML.',
    },
  },
  [`${schemaName}MachineBlock`]: {
    fields: {
      addresses: 'IPv4 addresses and DNS names; 10.0.0.[11-14] stands for four addresses.',
      port: 'The port of SSH. The default is 22.',
      user: 'The user of SSH. The default is root; others need sudo.',
      credentials:
        'The Secret with password, or with ssh-privatekey and, if the key has one, passphrase; and with sudo-password.',
      hostKeys: 'The fingerprints, SHA256:…, of which the machine must show one.',
      acceptNewHostKeys:
        'Whether the first fingerprint that a machine shows is accepted and kept. The default is false.',
      role: 'Master runs the control plane and a node; Node only a node, and is the default; Witness runs an etcd that votes for two masters. It may not be changed.',
      labels:
        'The labels of the nodes. Those that are taken out here are taken from the nodes again. A witness has none.',
      jump: 'The host through which the hub logs in to these machines.',
      via: "Site: the agent of the cluster's own site dials these machines.",
      viaCluster: 'The agent of this registered cluster dials these machines.',
      taints:
        'The taints of the nodes. Those that are taken out here are taken from the nodes again. A witness has none.',
    },
  },
  [`${schemaName}Taint`]: {
    fields: {
      key: 'The key, such as example.com/video.',
      value: 'The value, which may be empty.',
      effect: 'NoSchedule, PreferNoSchedule or NoExecute.',
    },
  },
  [`${schemaName}HighAvailability`]: {
    fields: {
      type: "None, the default: the masters' own addresses. VirtualIP: an address that one master holds, and another one when it fails. Balancer: the address of a balancer of yours.",
      address:
        'The virtual IP, an IPv4 address in the network of the masters that no machine has; or the address or name of the balancer.',
      port: 'The port of the balancer. The default is 6443.',
      virtualRouterId:
        'The number, 1 to 255, by which virtual IPs of one network differ. The default is the last number of the address.',
    },
  },
  [`${schemaName}Store`]: {
    fields: {
      type: 'SQLite, the default: a file of the only master. Etcd: one that the masters run themselves; one, three, or two and a witness may be there. SQLite may be changed to Etcd, but not Etcd to SQLite.',
      heartbeatMilliseconds:
        'The time between two heartbeats of etcd: about the round trip between the masters, 10 to 1000. The default is 100. It may not be changed.',
    },
  },
  [`${schemaName}Package`]: {
    description: 'A signed package with program, system packages and images, which the hub has.',
    fields: {
      digest: 'The digest of its manifest, as sha256:<hex>.',
      publicKey: 'The Ed25519 public key, in PEM, whose owner must have signed it.',
    },
  },
  [`${schemaName}File`]: {
    fields: {
      from: 'The key of a ConfigMap or Secret with the content.',
      path: 'The absolute path on the machine.',
      mode: 'The permissions in octal digits. The default is 0644, and 0600 for Secrets.',
    },
  },
  [`${schemaName}FileSource`]: {
    fields: {
      configMap: 'The name of the ConfigMap.',
      secret: 'The name of the Secret.',
      key: 'The key of it.',
    },
  },
  [`${schemaName}Hook`]: {
    fields: {
      when: 'BeforeInstall or AfterInstall.',
      configMap: 'The name of the ConfigMap.',
      key: 'The key whose value is the script, with a first line that names its interpreter.',
    },
  },
  [`${schemaName}Retry`]: {
    fields: { attempts: 'How often a step is tried before it has failed. The default is 10.' },
  },
  [`${schemaName}Deletion`]: {
    fields: {
      machines:
        'Clean removes everything of Skerry from the machines, and is the default; Keep leaves them running.',
    },
  },
  [`${schemaName}Status`]: {
    fields: {
      phase:
        'Pending, Running, Waiting for a person, Paused, Cancelled, Failed, Checked, Ready or Deleting.',
      observedGeneration: 'The generation of the spec that the hub has acted on.',
      clusterName: 'The name of the Cluster on the hub.',
      nodesMax: 'The number of nodes for which the pod range has addresses.',
      servicesMax: 'The number of services for which the service range has addresses.',
      capacity: 'Both figures in words.',
      programs: 'The version of the program on each machine, by its address.',
      package:
        'The offline package to which a job has upgraded the master. A change of spec.package removes it.',
      mode: 'The mode in which the steps were done last.',
      plan: 'In the mode Check: every step that Make would do, in order.',
      jumps: 'The jump hosts with their keys.',
      machines: 'The machines with the facts that are known about them.',
      steps: 'Every step on every machine, in the order in which they are done.',
      conditions: 'A condition for each step over all machines, and Ready for the whole.',
      configuration:
        'The options that a job has given to a role on every machine that has it. Machines that join later get them, too.',
      nodeSettings:
        'The labels and taints that nodes have from the spec. Those that a change takes out are removed.',
    },
  },
  [`${schemaName}NodeSettings`]: {
    fields: {
      digest: 'The digest by which machines name them.',
      labels: 'The labels.',
      taints: 'The taints.',
    },
  },
  [`${schemaName}StepPlan`]: {
    fields: {
      name: 'The name of the step.',
      does: 'Its work.',
      where: 'Hub, Master or Machines.',
    },
  },
  [`${schemaName}MachineStatus`]: {
    fields: {
      address: 'The address in the spec.',
      role: 'Master, Node or Witness.',
      hostKey: 'The fingerprint that the machine showed and that was accepted.',
      unknownHostKey: 'The fingerprint that the machine showed and that is not accepted yet.',
      isChanged: 'Whether a step has changed the machine, so that it must be cleaned one day.',
      node: 'The name of its node: its host name.',
      machineIdDigest: 'A digest of its machine id, by which a copied disk is found.',
      login:
        'The login as the spec had it last. The hub needs it for a machine that the spec does not name any more.',
      isCordoned: 'Whether the hub keeps pods off its node, because it leaves the cluster.',
      isDialled: 'Whether the agent of the site may dial it.',
      site: 'Founds: the master begins the site. Joins: it joins the others. Removed: it has no vote any more.',
      member: 'The name of its member in the etcd of the masters, once it votes.',
      isMade: 'Whether every step on it was finished once.',
      given:
        'The digests of the labels and taints in status.nodeSettings that its node may have; the last one is that of the spec.',
      isDead: 'Whether a person has said that the machine, which leaves, will never answer again.',
    },
  },
  [`${schemaName}MachineLogin`]: {
    fields: {
      user: 'The user of SSH.',
      port: 'The port of SSH.',
      credentials: 'The name of the Secret with the login; nothing of its content is here.',
      jump: 'The host through which the hub logs in to it.',
      via: "Site: the agent of the cluster's own site dials it.",
      viaCluster: 'The agent of this registered cluster dials it.',
    },
  },
  [`${schemaName}StepStatus`]: {
    fields: {
      name: 'The name of the step.',
      machine: 'The address of the machine; omitted for steps of the whole cluster.',
      state: 'Waiting, Running, Done, Skipped, Failed or Cancelled.',
      reason: 'The reason for which a step waits for something outside.',
      isBegun:
        'Whether an attempt that has not succeeded has reached the machine. Only jobs keep it.',
      attempt: 'How often it was tried.',
      startTime: 'When the last attempt began.',
      finishTime: 'When the last attempt ended.',
      nextTime: 'When it is tried again.',
      message: 'The error of the last attempt, or the result.',
      output: 'The last lines that the last attempt printed.',
      findings: 'Everything that the last attempt found wrong, with the remedy of each.',
      fault:
        'The reason for which the machine did not obey the last attempt: unreachable, refused, host-key, login, root, misbehaves or file.',
      input: 'A digest of the fields that the step carries out. If they change, it is done again.',
    },
  },
})
