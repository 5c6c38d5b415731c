import Configuration
import PodcastModel
import TestSupport
import Testing
import TransferProtocol

@testable import PodcastTree

/// Who may start a download, in a table.
@Suite struct DownloadPolicyTests {
  private typealias Opener = DownloadPolicy.Opener
  private typealias Row = (Opener, TransferState?, Int64, Settings.Trigger, DownloadPolicy.Decision)

  @Test func anOpenMayDoWhatItsOpenerItsStateAndTheTriggerAllow() {
    let person = Opener()
    let rows: [Row] = [
      (person, nil, 0, .open, .open(.download, waits: .no)),
      (person, nil, 0, .read, .open(.downloadAtRead, waits: .no)),
      (person, nil, 0, .never, .open(.fetchOnly, waits: .no)),
      (person, .failed, 5, .open, .open(.download, waits: .no)),
      (person, .paused, 5, .open, .open(.download, waits: .no)),
      (person, .cached, 9, .open, .open(.download, waits: .no)),
      // By what programs do with the bytes.
      (Opener(habit: .plays), nil, 0, .open, .open(.download, waits: .no)),
      (Opener(habit: .copies), nil, 0, .open, .open(.download, waits: .forEnd)),
      (Opener(habit: .copies), nil, 0, .read, .open(.downloadAtRead, waits: .no)),
      (Opener(habit: .browses), nil, 0, .open, .open(.downloadAtRead, waits: .no)),
      (Opener(habit: .browses), nil, 0, .never, .open(.fetchOnly, waits: .no)),
      // Those that may start nothing.
      (Opener(isBarred: true), nil, 0, .open, .refuse),
      (Opener(isBarred: true), .downloading, 0, .open, .refuse),
      (Opener(isBarred: true), .downloading, 1, .open, .open(.cachedOnly, waits: .no)),
      (Opener(habit: .copies, isBarred: true), .cached, 9, .read, .open(.cachedOnly, waits: .no)),
      (Opener(isBarred: true, isReopening: true), .remote, 0, .open, .refuse),
      // A sweep that has let the download go.
      (Opener(hasLetGo: true), .remote, 0, .open, .open(.fetchOnly, waits: .forFirstByte)),
      (Opener(habit: .copies, hasLetGo: true), .remote, 0, .open, .open(.fetchOnly, waits: .forFirstByte)),
      (Opener(hasLetGo: true), .paused, 0, .open, .open(.download, waits: .no)),
      (Opener(hasLetGo: true), .remote, 0, .read, .open(.downloadAtRead, waits: .no)),
      // After another process has taken the mount over.
      (Opener(isReopening: true), .downloading, 5, .open, .open(.download, waits: .no)),
      (Opener(isReopening: true), .remote, 0, .open, .open(.fetchOnly, waits: .no)),
      (Opener(isReopening: true), .paused, 5, .open, .open(.fetchOnly, waits: .no)),
      (Opener(isReopening: true), .failed, 5, .open, .open(.cachedOnly, waits: .no)),
    ]
    for (opener, state, received, trigger, decision) in rows {
      let key = MediaKey(address: "http://media.example/1.mp3")
      let status = state.map { TransferStatus(key: key, state: $0, received: received) }
      let found = DownloadPolicy.decide(opener, status, trigger)
      #expect(found == decision, "\(opener) \(String(describing: state)) \(trigger)")
    }
  }
}
