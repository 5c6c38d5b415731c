package import BusKit
package import PosixKit
package import TransferEngine
package import TransferProtocol

/// Watches the network's cost, the power supply and the clock, and reports when background downloads must rest or may
/// run. It belongs to the loop's thread, and does nothing while nothing changes.
///
/// Without libsystemd or NetworkManager the network counts as unmetered.
package final class BackgroundWatch {
  private let loop: EventLoop
  private let powerFolder: String
  private let which: Bus.Which
  private var bus: Bus?
  private var power: PowerWatch?
  private var alarm: WakeTimer?
  private var conditions = BackgroundConditions()
  private var settings: TransferSettings
  package private(set) var rest: BackgroundRest?
  /// Called with each other reason, and with nil where they may run.
  package var restChanged: (BackgroundRest?) -> Void = { _ in }

  /// Seconds in which background downloads wait for NetworkManager's first answer; and those that an answer may take.
  private static let patience = 2.0
  private static let longestAnswer = 30.0

  package init(
    _ settings: TransferSettings, loop: EventLoop, which: Bus.Which = .system,
    powerFolder: String = PowerSupply.usualFolder
  ) {
    (self.settings, self.loop, self.powerFolder, self.which) = (settings, loop, powerFolder, which)
    connect()
    use(settings)
  }

  package func use(_ new: TransferSettings) {
    settings = new
    watchPower()
    decide()
  }

  package func networkChanged() { if bus == nil { connect() } else { askNetwork() } }

  /// Connects again after `patience` seconds; where that fails, at the next change of the network.
  private func busEnded() {
    bus = nil
    learn(nil)
    loop.schedule(at: .after(Self.patience)) { [weak self] in if self?.bus == nil { self?.connect() } }
  }

  private func connect() {
    bus = try? Bus(which, loop: loop) { [weak self] in self?.busEnded() }
    guard let bus else { return }
    conditions.network = .asking
    loop.schedule(at: .after(Self.patience)) { [weak self] in
      if self?.conditions.network == .asking { self?.learn(nil) }
    }
    bus.match(
      "type='signal',sender='\(MeteredNetwork.manager)',path='\(MeteredNetwork.path)',member='PropertiesChanged',"
        + "arg0='\(MeteredNetwork.manager)'"
    ) { [weak self] signal in
      guard signal.values.count > 1, let value = signal.values[1]["Metered"] else { return }
      self?.heard(value)
    }
    // It comes and goes with its service.
    bus.match(
      "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(MeteredNetwork.manager)'"
    ) { [weak self] _ in self?.askNetwork() }
    askNetwork()
  }

  private func askNetwork() {
    bus?.call(
      MeteredNetwork.manager, MeteredNetwork.path, "org.freedesktop.DBus.Properties", "Get",
      [.string(MeteredNetwork.manager), .string("Metered")], seconds: Self.longestAnswer
    ) { [weak self] answer in
      self?.heard((try? answer.get())?.first)
    }
  }

  private func heard(_ metered: BusValue?) {
    learn(MeteredNetwork.isMetered(metered) ? .metered : nil)
  }

  /// Batteries report a new charge every minute: this listens only where a setting depends on it.
  private func watchPower() {
    if settings.restsBelowCharge == 0 {
      if let power { loop.unwatch(power.descriptor) }
      power = nil
    } else if power == nil, let watch = try? PowerWatch() {
      power = watch
      loop.watch(watch.descriptor, .readable) { [weak self] _ in
        watch.drain()
        self?.decide()
      }
    }
  }

  private func learn(_ network: BackgroundRest?) {
    conditions.network = network
    decide()
  }

  private func decide() {
    conditions.second = DailyHours.secondOfDay(wallClockSeconds())
    if settings.restsBelowCharge > 0 { conditions.power = .current(in: powerFolder) }
    setAlarm()
    let new = conditions.rest(by: settings)
    if new == rest { return }
    rest = new
    restChanged(new)
  }

  /// Looks again when the hours begin or end: a machine that sleeps at that time, when it has woken up.
  private func setAlarm() {
    if alarm == nil, settings.hours != nil, let timer = try? WakeTimer() {
      alarm = timer
      loop.watch(timer.descriptor, .readable) { [weak self] _ in
        timer.drain()
        self?.decide()
      }
    }
    alarm?.set(after: settings.hours.map { Double($0.secondsUntilChange(at: conditions.second)) })
  }
}

/// What background downloads depend on, besides room and hosts.
package struct BackgroundConditions: Hashable, Sendable {
  /// `asking` before NetworkManager has answered, `metered`; nil where it costs nothing.
  package var network: BackgroundRest?
  package var power = PowerSupply.mains
  /// The second of the day by the local clock.
  package var second = 0

  package init() {}

  /// Whether background downloads may run: nil, or why they rest.
  package func rest(by settings: TransferSettings) -> BackgroundRest? {
    if settings.isPaused { return .paused }
    if let hours = settings.hours, !hours.contains(second / 60) { return .outside(hours) }
    if case .battery(let charge) = power {
      let least = settings.restsBelowCharge
      if least > 100 { return .battery(below: nil) }
      // A battery without a known charge may be nearly empty.
      if least > 0, charge ?? 0 < least { return .battery(below: Int(least)) }
    }
    return settings.restsOnMetered ? network : nil
  }
}
